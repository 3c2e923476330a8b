package serve

var Network = network

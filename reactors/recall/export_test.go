package recall

// BytesPerVector is tested against the index itself.
var BytesPerVector = bytesPerVector

// Lock keeps every other process from tending.
const Lock = lock

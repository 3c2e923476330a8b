// Package broker makes https requests for skills: to named hosts only, and only
// where their names lead to addresses of the public Internet.
//
// A name is resolved once for a connection, every address it has is checked, and
// the connection goes to a checked address: a name that changes its mind between
// check and connection (DNS rebinding) gains nothing. Redirects pass the same
// checks. Proxies of the environment are not used.
package broker

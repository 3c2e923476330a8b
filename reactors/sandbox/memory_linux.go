package sandbox

import "golang.org/x/sys/unix"

// reserve takes addresses; nothing is behind them yet.
func reserve(size uint64) ([]byte, error) {
	if size == 0 {
		return nil, nil
	}
	return unix.Mmap(-1, 0, int(size), unix.PROT_NONE, unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_NORESERVE)
}

// commit makes the range usable from one size to a larger one. The kernel puts
// pages there as they are touched.
func commit(all []byte, from, to uint64) error {
	page := uint64(unix.Getpagesize())
	from, to = from/page*page, min((to+page-1)/page*page, uint64(len(all)))
	return unix.Mprotect(all[from:to], unix.PROT_READ|unix.PROT_WRITE)
}

// discard zeroes the used part by giving its pages back.
func discard(all []byte, used uint64) error {
	if used == 0 {
		return nil
	}
	return unix.Madvise(all[:used], unix.MADV_DONTNEED)
}

func release(all []byte) {
	if len(all) > 0 {
		_ = unix.Munmap(all)
	}
}

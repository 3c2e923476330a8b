package precheck

import "strings"

// imports are the functions that a host gives: those of WASI preview 1 but for
// sockets, and ours.
var imports = map[string][]string{
	"helix": {"call", "call_into", "last_response"},
	"wasi_snapshot_preview1": strings.Fields(`
		args_get args_sizes_get environ_get environ_sizes_get clock_res_get clock_time_get
		fd_advise fd_allocate fd_close fd_datasync fd_fdstat_get fd_fdstat_set_flags fd_fdstat_set_rights
		fd_filestat_get fd_filestat_set_size fd_filestat_set_times fd_pread fd_prestat_get fd_prestat_dir_name
		fd_pwrite fd_read fd_readdir fd_renumber fd_seek fd_sync fd_tell fd_write
		path_create_directory path_filestat_get path_filestat_set_times path_link path_open path_readlink
		path_remove_directory path_rename path_symlink path_unlink_file
		poll_oneoff proc_exit proc_raise sched_yield random_get`),
}

func (m *module) imported() {
	from, name := m.importName(), m.importName()
	known := false
	for _, f := range imports[from] {
		known = known || f == name
	}
	switch kind := m.byte(); {
	case kind != 0:
		m.refuse(UnsupportedImport, "%q of %q is a table, memory or global, and only functions can be imported", name, from)
	case known:
		m.u32()
	case imports[from] == nil:
		m.refuse(UnsupportedImport, "there is no module %q to import from; there are wasi_snapshot_preview1 and helix", from)
	default:
		m.refuse(UnsupportedImport, "%q has no function %q", from, name)
	}
}

func (m *module) importName() string {
	n := m.u32()
	if n > maxImportName {
		m.refuse(UnsupportedImport, "the name of an import has %d bytes", n)
	}
	return string(m.take(int(n)))
}

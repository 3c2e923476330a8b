// Command sbom writes what a Go binary was built of, as CycloneDX:
//
//	sbom <binary> <version>
//
// It reads what the linker has put there, so it tells of the binary itself, not of
// a go.mod. The same binary gives the same bytes.
package main

import (
	"debug/buildinfo"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"os"
	"runtime/debug"
	"strings"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: sbom <binary> <version>")
		os.Exit(2)
	}
	info, err := buildinfo.ReadFile(os.Args[1])
	if err == nil {
		encoder := cdx.NewBOMEncoder(os.Stdout, cdx.BOMFileFormatJSON)
		err = encoder.SetPretty(true).Encode(bom(info, os.Args[2]))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "sbom:", err)
		os.Exit(1)
	}
}

func bom(info *debug.BuildInfo, version string) *cdx.BOM {
	b := cdx.NewBOM()
	b.Metadata = &cdx.Metadata{Component: component(cdx.ComponentTypeApplication, info.Main.Path, version, "")}
	components := []cdx.Component{*component(cdx.ComponentTypeLibrary, "std", strings.TrimPrefix(info.GoVersion, "go"), "")}
	// Not modules, and embedded: see docs/licences.md.
	components = append(components,
		cdx.Component{Type: cdx.ComponentTypeLibrary, BOMRef: "pkg:npm/quickjs-wasi", PackageURL: "pkg:npm/quickjs-wasi@3.6.2", Name: "quickjs-wasi", Version: "3.6.2"},
		cdx.Component{Type: cdx.ComponentTypeLibrary, BOMRef: "pkg:deb/debian/ffmpeg", PackageURL: "pkg:deb/debian/ffmpeg@7.1.5", Name: "ffmpeg", Version: "7.1.5"})
	var needs []string
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		components = append(components, *component(cdx.ComponentTypeLibrary, m.Path, m.Version, m.Sum))
	}
	for _, c := range components {
		needs = append(needs, c.BOMRef)
	}
	b.Components = &components
	b.Dependencies = &[]cdx.Dependency{{Ref: b.Metadata.Component.BOMRef, Dependencies: &needs}}
	return b
}

// component is a Go module. Its sum is that of go.sum: a SHA-256 of its files.
func component(kind cdx.ComponentType, path, version, sum string) *cdx.Component {
	url := "pkg:golang/" + path + "@" + version
	c := &cdx.Component{Type: kind, BOMRef: url, PackageURL: url, Name: path, Version: version}
	if raw, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(sum, "h1:")); err == nil && len(raw) == 32 {
		c.Hashes = &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: hex.EncodeToString(raw)}}
	}
	return c
}

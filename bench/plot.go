package main

import (
	"bytes"
	"image/color"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

const (
	plotWidth  = 600 * vg.Length(1)
	plotHeight = 270 * vg.Length(1)
	legendGap  = 14 * vg.Length(1)
)

// sideColours and sideShapes tell the sides apart, helixd the first: colours that the
// colour-blind tell apart too (Okabe and Ito).
var (
	sideColours = []color.Color{
		color.RGBA{0x00, 0x72, 0xb2, 0xff}, color.RGBA{0xd5, 0x5e, 0x00, 0xff}, color.RGBA{0x00, 0x9e, 0x73, 0xff},
		color.RGBA{0xcc, 0x79, 0xa7, 0xff}, color.RGBA{0xe6, 0x9f, 0x00, 0xff}, color.RGBA{0x56, 0xb4, 0xe9, 0xff},
		color.Gray{0x40},
	}
	sideShapes = []draw.GlyphDrawer{draw.CircleGlyph{}, draw.SquareGlyph{}, draw.TriangleGlyph{}, draw.PyramidGlyph{}, draw.BoxGlyph{}, draw.RingGlyph{}, draw.CrossGlyph{}}
)

func colour(i int) color.Color { return sideColours[i%len(sideColours)] }

// newPlot has a white ground of its own, so that it reads on a dark page as well.
func newPlot(title, x, y string) *plot.Plot {
	plot.DefaultFont = font.Font{Typeface: "Liberation", Variant: "Sans"}
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = title, x, y
	p.Title.TextStyle.Font.Size = 12
	p.Title.Padding = 8
	p.X.Padding, p.Y.Padding = 4, 4
	grid := plotter.NewGrid()
	grid.Vertical.Color, grid.Horizontal.Color = color.Gray{0xe0}, color.Gray{0xe0}
	p.Add(grid)
	return p
}

// svg draws a plot with its legend at the right, where no line is in its way.
func svg(p *plot.Plot, legend *plot.Legend) ([]byte, error) {
	canvas := vgsvg.New(plotWidth, plotHeight)
	all := draw.New(canvas)
	all.SetColor(color.White)
	all.Fill(all.Rectangle.Path())
	all = draw.Crop(all, 8, -8, 8, -8)
	legend.Top, legend.Left = true, true
	legend.Padding = 3
	width := legend.Rectangle(all).Size().X + legendGap
	p.Draw(draw.Crop(all, 0, -width-legendGap, 0, 0))
	legend.Draw(draw.Crop(all, all.Size().X-width, 0, 0, -24))
	var out bytes.Buffer
	_, err := canvas.WriteTo(&out)
	// Arial is as wide as Liberation Sans, which few readers have.
	return bytes.ReplaceAll(out.Bytes(), []byte("font-family:Liberation Sans"), []byte("font-family:Liberation Sans,Arial,Helvetica,sans-serif")), err
}

// marks are a line's points: the plotter's XYer and YErrorer.
type marks []point

func (v marks) Len() int                    { return len(v) }
func (v marks) XY(i int) (float64, float64) { return v[i].X, v[i].Median }
func (v marks) YError(i int) (float64, float64) {
	if len(v[i].Runs) == 0 {
		return 0, 0
	}
	return v[i].Median - slices.Min(v[i].Runs), slices.Max(v[i].Runs) - v[i].Median
}

// svg draws the curve: medians joined, and from the least to the most at each.
func (c *curve) svg() ([]byte, error) {
	p := newPlot(c.Title, c.X, c.Y)
	legend := plot.NewLegend()
	for i, l := range c.Lines {
		joined, dots, err := plotter.NewLinePoints(marks(l.Points))
		if err != nil {
			return nil, err
		}
		spread, err := plotter.NewYErrorBars(marks(l.Points))
		if err != nil {
			return nil, err
		}
		joined.Color, spread.Color = colour(i), colour(i)
		joined.Width, spread.CapWidth = 1.5, 5
		dots.GlyphStyle = draw.GlyphStyle{Color: colour(i), Radius: 3, Shape: sideShapes[i%len(sideShapes)]}
		p.Add(joined, spread, dots)
		legend.Add(l.Name, joined, dots)
	}
	if c.LinX {
		p.X.Tick.Marker = plot.TickerFunc(wholeTicks)
	} else {
		p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, plot.TickerFunc(powerTicks)
	}
	if c.LogY {
		p.Y.Scale, p.Y.Tick.Marker = plot.LogScale{}, plot.TickerFunc(powerTicks)
		p.Y.Min, p.Y.Max = powerBelow(p.Y.Min), -powerBelow(-p.Y.Max)
	} else {
		p.Y.Min, p.Y.Tick.Marker = 0, plot.TickerFunc(evenTicks)
	}
	return svg(p, &legend)
}

// bars are sides beside each other, in groups.
type bars struct {
	Title, Y string
	Groups   []string
	Sides    []*barSide
}

// barSide has a bar in each group; 0 where it has none.
type barSide struct {
	name   string
	values plotter.Values
}

func (b *bars) set(group, name string, value float64) {
	g := slices.Index(b.Groups, group)
	if g < 0 {
		g = len(b.Groups)
		b.Groups = append(b.Groups, group)
	}
	i := slices.IndexFunc(b.Sides, func(s *barSide) bool { return s.name == name })
	if i < 0 {
		i = len(b.Sides)
		b.Sides = append(b.Sides, &barSide{name: name})
	}
	s := b.Sides[i]
	for len(s.values) <= g {
		s.values = append(s.values, 0)
	}
	s.values[g] = value
}

func (b *bars) svg() ([]byte, error) {
	p := newPlot(b.Title, "", b.Y)
	legend := plot.NewLegend()
	width := 300 / vg.Length(len(b.Groups)*(len(b.Sides)+1))
	for i, s := range b.Sides {
		drawn, err := plotter.NewBarChart(s.values, width)
		if err != nil {
			return nil, err
		}
		drawn.Color, drawn.LineStyle.Width = colour(i), 0
		drawn.Offset = width * (vg.Length(i) - vg.Length(len(b.Sides)-1)/2)
		p.Add(drawn)
		legend.Add(s.name, drawn)
	}
	var names []string
	for _, g := range b.Groups {
		names = append(names, strings.Replace(g, " in ", "\nin ", 1)) // they stand side by side
	}
	p.NominalX(names...)
	p.X.Min, p.X.Max = -0.5, float64(len(names))-0.5
	p.Y.Min, p.Y.Tick.Marker = 0, plot.TickerFunc(evenTicks)
	return svg(p, &legend)
}

// powerBelow gives the power of ten at or below a positive value, and minus that at
// or above a negative one's.
func powerBelow(v float64) float64 {
	if v < 0 {
		return -math.Pow(10, math.Ceil(math.Log10(-v)))
	}
	return math.Pow(10, math.Floor(math.Log10(v)))
}

// powerTicks are at each power of ten.
func powerTicks(least, most float64) (ticks []plot.Tick) {
	for v := powerBelow(least); v <= most*1.001; v *= 10 {
		for n := 1.; n < 10; n++ {
			at := v * n
			if at < least*0.999 || at > most*1.001 {
				continue
			}
			tick := plot.Tick{Value: at}
			if n == 1 {
				tick.Label = number(at)
			}
			ticks = append(ticks, tick)
		}
	}
	return ticks
}

func evenTicks(least, most float64) []plot.Tick {
	ticks := plot.DefaultTicks{}.Ticks(least, most)
	for i := range ticks {
		if ticks[i].Label != "" {
			ticks[i].Label = number(ticks[i].Value)
		}
	}
	return ticks
}

func wholeTicks(least, most float64) (ticks []plot.Tick) {
	for v := math.Ceil(least); v <= most; v++ {
		ticks = append(ticks, plot.Tick{Value: v, Label: number(v)})
	}
	return ticks
}

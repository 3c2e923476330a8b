package decay

// InChunksOf lets a Ticker go by so many pages.
func (t *Ticker) InChunksOf(pages int) { t.chunk = place(pages) * page }

// NearlyAt and RetentionAt are SQL, of a row of psychology_layers.
var NearlyAt, RetentionAt = nearlyAt, retentionAt

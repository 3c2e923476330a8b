package command

// Slots are the names of the phrase's slots, in their order.
func (p *Phrase) Slots() []string { return p.slots }

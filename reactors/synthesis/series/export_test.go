package series

// Powers is the sparse periodogram, for comparison with LombScargle.
func Powers(active []float64, bins, first, step float64, count int) []float64 {
	return activity{active, bins}.powers(first, step, count)
}

package rt

// A day is one on which runs start.
type day struct {
	began int64 // in nanoseconds since 1970
	// turns are when, in seconds after that, a minute, an hour, the day, its month, the 28th of
	// February and a year are over.
	turns [6]int64
}

// today is the day on which runs start: where a program is not driven, that of bubbles.
var today = dayFrom(epoch / 1_000_000_000)

const secondsOfDay = 86_400

// SetDay sets the day on which runs start: when it begins, in seconds since 1970. 0 leaves it as it
// is.
func SetDay(began int64) {
	if began != 0 {
		today = dayFrom(began)
	}
}

func dayFrom(began int64) day {
	d := day{began: began * 1_000_000_000, turns: [6]int64{60, 3600, secondsOfDay}}
	first := began / secondsOfDay
	for n := int64(0); d.turns[3] == 0 || d.turns[4] == 0 || d.turns[5] == 0; n++ {
		_, month, dayOfMonth := civil(first + n)
		_, next, _ := civil(first + n + 1)
		for turn, over := range [6]bool{3: month != next, 4: month == 2 && dayOfMonth == 28, 5: month == 12 && next == 1} {
			if over && d.turns[turn] == 0 {
				d.turns[turn] = (n + 1) * secondsOfDay
			}
		}
	}
	return d
}

// civil is the date of a day, which is counted from 1970-01-01 on. In years that begin with March a
// leap day is the last, and months have 153 days in five.
func civil(days int64) (year, month, dayOfMonth int64) {
	days += 719_468 // from the first of March of the year 0
	era := days / 146_097
	day := days % 146_097
	yearOfEra := (day - day/1460 + day/36_524 - day/146_096) / 365
	day -= 365*yearOfEra + yearOfEra/4 - yearOfEra/100
	fromMarch := (5*day + 2) / 153
	year, month, dayOfMonth = yearOfEra+400*era, fromMarch+3, day-(153*fromMarch+2)/5+1
	if month > 12 {
		year, month = year+1, month-12
	}
	return year, month, dayOfMonth
}

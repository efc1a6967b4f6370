// The lab's server in Go: net/http and database/sql, with the same endpoints, amounts and answers as app.rb.
//
// It listens on 127.0.0.1, at PORT. MYTH_* say how much work and waiting there is; see amounts.rb.
package main

import (
	"database/sql"
	"fmt"
	"log"
	"net/http"
	"os"
	"sort"
	"strconv"
	"syscall"

	_ "github.com/go-sql-driver/mysql"
)

func tarai(x, y, z int) int {
	if x <= y {
		return y
	}
	return tarai(tarai(x-1, y, z), tarai(y-1, z, x), tarai(z-1, x, y))
}

// The unit of work, so many times.
func burn(units int) int {
	result := 0
	for turn := 0; turn < units; turn++ {
		result = tarai(5, 2, 0)
	}
	return result
}

func number(name string) int {
	value, err := strconv.Atoi(os.Getenv(name))
	if err != nil {
		log.Fatalf("%s: %v", name, err)
	}
	return value
}

func connect() *sql.DB {
	database, err := sql.Open("mysql", "root@unix("+os.Getenv("MYTH_SOCKET")+")/")
	if err != nil {
		log.Fatal(err)
	}
	// Kept, as a Rails pool keeps them: else most queries would pay for a new connection.
	database.SetMaxIdleConns(512)
	return database
}

func answer(path string, body func() (string, error)) {
	http.HandleFunc(path, func(writer http.ResponseWriter, _ *http.Request) {
		text, err := body()
		if err != nil {
			http.Error(writer, err.Error(), http.StatusInternalServerError)
			return
		}
		writer.Header().Set("Content-Type", "text/plain; charset=utf-8")
		fmt.Fprintln(writer, text)
	})
}

func cpuNs() int64 {
	var usage syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &usage)
	return usage.Utime.Nano() + usage.Stime.Nano()
}

// How long a unit of work takes here, as pace.rb tells it of Ruby: the middle of 25 samples.
func pace() {
	const units = 20000
	times := make([]int64, 25)
	for sample := range times {
		began := cpuNs()
		burn(units)
		times[sample] = cpuNs() - began
	}
	sort.Slice(times, func(one, other int) bool { return times[one] < times[other] })
	fmt.Println(float64(times[12]) / units)
}

func main() {
	if len(os.Args) > 1 && os.Args[1] == "pace" {
		pace()
		return
	}
	database := connect()
	query := "SELECT SLEEP(" + os.Getenv("MYTH_SLEEP_S") + ")"
	units, levelUnits, talkUnits := number("MYTH_UNITS"), number("MYTH_LEVEL_UNITS"), number("MYTH_TALK_UNITS")
	sleep := func() (slept string, err error) {
		err = database.QueryRow(query).Scan(&slept)
		return slept, err
	}
	mixed := func(units int) func() (string, error) {
		return func() (string, error) {
			burn(units / 2)
			slept, err := sleep()
			return fmt.Sprintf("slept %s, burnt %d", slept, burn(units-units/2)), err
		}
	}
	answer("/io-only", func() (string, error) {
		slept, err := sleep()
		return "slept " + slept, err
	})
	answer("/cpu-only", func() (string, error) { return fmt.Sprintf("burnt %d", burn(units)), nil })
	answer("/realistic", mixed(units))
	answer("/level", mixed(levelUnits))
	answer("/talk", mixed(talkUnits))
	answer("/tarai", func() (string, error) { return fmt.Sprintf("tarai %d", tarai(10, 5, 0)), nil })
	log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Getenv("PORT"), nil))
}

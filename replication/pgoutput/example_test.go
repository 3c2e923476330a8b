package pgoutput_test

import (
	"fmt"

	"github.com/helixd/helixd/replication/pgoutput"
)

func ExampleAssembler() {
	a := pgoutput.NewAssembler(0)
	for _, payload := range [][]byte{
		begin(742, 0x10), relation(16385, "memories", 2), insert(16385, text("1", "hello")), commit(0x10, 0x20),
	} {
		if err := a.Add(payload); err != nil {
			fmt.Println(err)
			return
		}
	}
	b := a.Take()
	for _, tx := range b.Transactions {
		for _, c := range tx.Changes {
			fmt.Printf("%d: %s %s, %s = %q\n", tx.XID, c.Op, c.Relation, c.Relation.Columns[1].Name, c.New[1].Data)
		}
	}
	fmt.Println("durable up to", b.EndLSN)
	// Output:
	// 742: INSERT public.memories, c1 = "hello"
	// durable up to 0/20
}

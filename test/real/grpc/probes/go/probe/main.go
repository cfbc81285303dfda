// Sends requests of HTTP/2 frame by frame, right ones and wrong ones: one request as JSON a line in, what came back a line out.
package main

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"strconv"
	"sync"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

type field [2]string

type step struct {
	// Hexadecimal; one DATA frame, or several where it is longer than a frame.
	Data *string `json:"data"`
	// Pads the frame.
	Pad int `json:"pad"`
	// A HEADERS frame after the first.
	Trailers []field `json:"trailers"`
	End      bool    `json:"end"`
	WaitMs   int     `json:"waitMs"`
	Reset    *uint32 `json:"reset"`
}

type asked struct {
	Address string  `json:"address"`
	Fields  []field `json:"fields"`
	// The first HEADERS frame ends the request.
	End       bool   `json:"end"`
	Steps     []step `json:"steps"`
	TimeoutMs int    `json:"timeoutMs"`
}

type outcome struct {
	Http     int     `json:"http"`
	Fields   []field `json:"fields"`
	Trailers []field `json:"trailers"`
	// Hexadecimal.
	Data  string `json:"data"`
	Ended bool   `json:"ended"`
	// -1: none came.
	Reset int64 `json:"reset"`
	// Or it said that it is going to be, for a fault.
	Closed  bool `json:"closed"`
	Waiting bool `json:"waiting"`
}

// Of the one request on a connection.
const stream = 1

// For one HEADERS or DATA frame.
const mostBytes = 16384

type connection struct {
	sync.Mutex
	moved   *sync.Cond
	framer  *http2.Framer
	windows [2]int64
	initial int64
	out     outcome
	over    bool
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<26)
	for lines.Scan() {
		var one asked
		check(json.Unmarshal(lines.Bytes(), &one))
		text, err := json.Marshal(probe(one))
		check(err)
		fmt.Println(string(text))
	}
}

func probe(one asked) outcome {
	socket, err := net.Dial("tcp", one.Address)
	check(err)
	defer socket.Close()
	_, err = socket.Write([]byte(http2.ClientPreface))
	check(err)
	c := &connection{framer: http2.NewFramer(socket, socket), windows: [2]int64{65535, 65535}, initial: 65535}
	c.moved = sync.NewCond(c)
	c.framer.AllowIllegalWrites = true
	c.framer.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	c.framer.MaxHeaderListSize = 1 << 24
	c.out = outcome{Reset: -1, Fields: []field{}, Trailers: []field{}}
	check(c.framer.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 1 << 24}))
	check(c.framer.WriteWindowUpdate(0, 1<<24))
	var body bytes.Buffer
	ready := make(chan struct{})
	go c.read(&body, ready)
	<-ready
	c.write(one)
	timeout := time.AfterFunc(time.Duration(one.TimeoutMs)*time.Millisecond, func() {
		c.Lock()
		defer c.Unlock()
		if !c.over {
			c.out.Waiting, c.over = true, true
			c.moved.Broadcast()
		}
	})
	defer timeout.Stop()
	c.Lock()
	defer c.Unlock()
	for !c.over {
		c.moved.Wait()
	}
	c.out.Data = hex.EncodeToString(body.Bytes())
	return c.out
}

// Reads until the request has its outcome.
func (c *connection) read(body *bytes.Buffer, ready chan struct{}) {
	begun := false
	for {
		frame, err := c.framer.ReadFrame()
		c.Lock()
		if err != nil {
			if !c.over {
				c.out.Closed, c.over = true, true
			}
			c.moved.Broadcast()
			c.Unlock()
			if !begun {
				close(ready)
			}
			return
		}
		switch f := frame.(type) {
		case *http2.SettingsFrame:
			if !f.IsAck() {
				if size, ok := f.Value(http2.SettingInitialWindowSize); ok {
					c.windows[1] += int64(size) - c.initial
					c.initial = int64(size)
				}
				_ = c.framer.WriteSettingsAck()
			}
			if !begun {
				begun = true
				close(ready)
			}
		case *http2.PingFrame:
			if !f.IsAck() {
				_ = c.framer.WritePing(true, f.Data)
			}
		case *http2.WindowUpdateFrame:
			c.windows[f.StreamID&1] += int64(f.Increment)
		case *http2.MetaHeadersFrame:
			c.headers(f)
		case *http2.DataFrame:
			body.Write(f.Data())
			c.ended(f.StreamEnded())
		case *http2.RSTStreamFrame:
			c.out.Reset, c.over = int64(f.ErrCode), true
		case *http2.GoAwayFrame:
			if f.ErrCode != http2.ErrCodeNo {
				c.out.Closed, c.over = true, true
			}
		}
		c.moved.Broadcast()
		c.Unlock()
	}
}

func (c *connection) headers(f *http2.MetaHeadersFrame) {
	var fields []field
	for _, one := range f.Fields {
		fields = append(fields, field{one.Name, one.Value})
	}
	if c.out.Http == 0 {
		c.out.Http, _ = strconv.Atoi(f.PseudoValue("status"))
		c.out.Fields = fields
	} else {
		c.out.Trailers = fields
	}
	c.ended(f.StreamEnded())
}

func (c *connection) ended(isLast bool) {
	if isLast {
		c.out.Ended, c.over = true, true
	}
}

func (c *connection) write(one asked) {
	var block bytes.Buffer
	encoder := hpack.NewEncoder(&block)
	head := func(fields []field, end bool) {
		block.Reset()
		for _, each := range fields {
			check(encoder.WriteField(hpack.HeaderField{Name: latin1(each[0]), Value: latin1(each[1])}))
		}
		rest := block.Bytes()
		first := rest[:min(len(rest), mostBytes)]
		rest = rest[len(first):]
		c.send(func() error {
			if err := c.framer.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: first, EndStream: end, EndHeaders: len(rest) == 0}); err != nil {
				return err
			}
			for len(rest) > 0 {
				part := rest[:min(len(rest), mostBytes)]
				rest = rest[len(part):]
				if err := c.framer.WriteContinuation(stream, len(rest) == 0, part); err != nil {
					return err
				}
			}
			return nil
		})
	}
	head(one.Fields, one.End)
	for _, each := range one.Steps {
		time.Sleep(time.Duration(each.WaitMs) * time.Millisecond)
		switch {
		case each.Trailers != nil:
			head(each.Trailers, each.End)
		case each.Reset != nil:
			c.send(func() error { return c.framer.WriteRSTStream(stream, http2.ErrCode(*each.Reset)) })
		case each.Data != nil:
			data, err := hex.DecodeString(*each.Data)
			check(err)
			c.data(data, each)
		}
	}
}

// Sends no more than the server takes, and nothing once the outcome is there.
func (c *connection) data(data []byte, each step) {
	for {
		c.Lock()
		for !c.over && len(data) > 0 && (c.windows[0] <= 0 || c.windows[1] <= 0) {
			c.moved.Wait()
		}
		size := min(int64(len(data)), mostBytes, max(c.windows[0], 0), max(c.windows[1], 0))
		part := data[:size]
		data = data[size:]
		c.windows[0] -= size
		c.windows[1] -= size
		over := c.over
		c.Unlock()
		if over {
			return
		}
		end := each.End && len(data) == 0
		c.send(func() error {
			if each.Pad > 0 {
				return c.framer.WriteDataPadded(stream, end, part, make([]byte, each.Pad))
			}
			return c.framer.WriteData(stream, end, part)
		})
		if len(data) == 0 {
			return
		}
	}
}

// What the server no longer takes shows in what it said.
func (c *connection) send(write func() error) {
	c.Lock()
	defer c.Unlock()
	_ = write()
}

// One byte for each character: JSON has no other way to hold bytes.
func latin1(text string) string {
	var all []byte
	for _, each := range text {
		all = append(all, byte(each))
	}
	return string(all)
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

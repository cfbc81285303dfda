package main

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
)

const (
	parallelism = 40
	callTimeout = 60 * time.Second
	mostWrong   = 20
)

// What came of a step.
type report struct {
	Step    string  `json:"step"`
	Seconds float64 `json:"seconds"`
	// Of one call.
	SlowestMs float64 `json:"slowestMs"`
	Calls     int     `json:"calls"`
	// What a plan would do, and what the others did.
	Create int `json:"create"`
	Update int `json:"update"`
	Remove int `json:"remove"`
	// Calls that failed.
	Failures []failure `json:"failures"`
	// What was not as it should be, though no call failed.
	Wrong []string `json:"wrong"`
}

type failure struct {
	Call    string `json:"call"`
	Code    string `json:"code"`
	Message string `json:"message"`
	Count   int    `json:"count"`
}

type provider struct {
	kinds map[string]*kind
	all   []*resource
	root  string
	token string
	// Which configuration holds: the whole one, or the one with attributes removed.
	less bool

	lock sync.Mutex
	// The ids of deleted records.
	gone map[string]bool
	said report
}

func newProvider(kinds map[string]*kind, token, root string) *provider {
	return &provider{kinds: kinds, all: configuration(kinds), root: root, token: token, gone: map[string]bool{}}
}

func (p *provider) run(step string) report {
	p.said = report{Step: step, Failures: []failure{}, Wrong: []string{}}
	began := time.Now()
	switch step {
	case "plan":
		p.each(p.all, nil, p.plan)
	case "create":
		p.each(p.all, func(r *resource) []*resource { return r.needs }, p.create)
	case "list":
		p.list()
	case "remove attributes":
		p.less = true
	case "update":
		p.each(p.all, nil, p.update)
	case "import":
		p.each(p.all, nil, p.importAgain)
	case "destroy":
		backwards := slices.Clone(p.all)
		slices.Reverse(backwards)
		p.each(backwards, p.dependents(), p.destroy)
	default:
		panic("no step " + step)
	}
	p.said.Seconds = time.Since(began).Seconds()
	return p.said
}

// Does it for all, 40 at a time, each after those that `after` names.
func (p *provider) each(all []*resource, after func(*resource) []*resource, do func(*resource)) {
	slots := make(chan struct{}, parallelism)
	done := map[*resource]chan struct{}{}
	for _, one := range all {
		done[one] = make(chan struct{})
	}
	var group sync.WaitGroup
	for _, one := range all {
		group.Go(func() {
			defer close(done[one])
			if after != nil {
				for _, other := range after(one) {
					<-done[other]
				}
			}
			slots <- struct{}{}
			defer func() { <-slots }()
			do(one)
		})
	}
	group.Wait()
}

func (p *provider) dependents() func(*resource) []*resource {
	needed := map[*resource][]*resource{}
	for _, one := range p.all {
		for _, other := range one.needs {
			needed[other] = append(needed[other], one)
		}
	}
	return func(r *resource) []*resource { return needed[r] }
}

// Reads what exists, and counts what would have to be done.
func (p *provider) plan(r *resource) {
	if r.state != nil {
		found, ok := p.read(r.kind, r.id())
		if !ok {
			return
		}
		r.state = found
	}
	switch {
	case r.state == nil:
		p.count(&p.said.Create)
	case !p.isWanted(r, r.state):
		p.count(&p.said.Update)
	}
}

func (p *provider) isWanted(r *resource, found proto.Message) bool {
	return proto.Equal(r.kind.configured(found), r.kind.configured(r.wanted(p.less)))
}

func (p *provider) create(r *resource) {
	parent := p.root
	if r.parent != nil {
		parent = r.parent.id()
	}
	if slices.ContainsFunc(r.needs, func(one *resource) bool { return one.state == nil }) {
		p.wrong("%s: not created, since something it needs was not", r.kind.name)
		return
	}
	created, ok := p.call(r.kind.name+" create", func(ctx context.Context) (proto.Message, error) {
		return r.kind.create(ctx, parent, r.wanted(p.less))
	})
	if !ok {
		return
	}
	p.count(&p.said.Create)
	r.state = created
	p.expectWanted("created", r, created)
}

func (p *provider) update(r *resource) {
	if r.kind.update == nil {
		return
	}
	updated, ok := p.call(r.kind.name+" update", func(ctx context.Context) (proto.Message, error) {
		return r.kind.update(ctx, r.kind.named(r.wanted(p.less), r.id()))
	})
	if !ok {
		return
	}
	p.count(&p.said.Update)
	if r.kind.idOf(updated) != r.id() {
		p.wrong("%s: the update of %s responds with %s", r.kind.name, r.id(), r.kind.idOf(updated))
	}
	r.state = updated
	p.expectWanted("updated", r, updated)
}

// As for a client that knows nothing but the id: what it reads is the state that there was.
func (p *provider) importAgain(r *resource) {
	found, ok := p.read(r.kind, r.id())
	if !ok {
		return
	}
	p.expectWanted("imported", r, found)
	r.state = found
}

func (p *provider) destroy(r *resource) {
	if r.state == nil {
		return
	}
	_, ok := p.call(r.kind.name+" delete", func(ctx context.Context) (proto.Message, error) {
		return nil, r.kind.remove(ctx, r.id())
	})
	if ok {
		p.count(&p.said.Remove)
		p.lock.Lock()
		p.gone[r.id()] = true
		p.lock.Unlock()
		r.state = nil
	}
}

// Lists each kind without a filter, below the group that holds everything, and by a name: each record comes once, as it was read by its id.
func (p *provider) list() {
	var group sync.WaitGroup
	named := map[*kind]bool{}
	for _, one := range p.all {
		name, hasName := one.wanted(p.less).(interface{ GetName() string })
		if one.kind.byName && hasName && !named[one.kind] {
			named[one.kind] = true
			group.Go(func() { p.listKind(one.kind, filter{name: name.GetName()}) })
		}
	}
	for _, kind := range p.kinds {
		group.Go(func() { p.listKind(kind, filter{}) })
		if kind.below && p.all[0].state != nil {
			group.Go(func() { p.listKind(kind, filter{below: p.all[0].id()}) })
		}
	}
	group.Wait()
}

func (p *provider) listKind(kind *kind, by filter) {
	var found []proto.Message
	_, ok := p.call(kind.name+" list", func(ctx context.Context) (_ proto.Message, err error) {
		found, err = kind.list(ctx, by)
		return nil, err
	})
	if !ok {
		return
	}
	seen := map[string]proto.Message{}
	for _, one := range found {
		id := kind.idOf(one)
		if seen[id] != nil {
			p.wrong("%s: %s is listed twice", kind.name, id)
		}
		if p.gone[id] {
			p.wrong("%s: %s is deleted, and listed", kind.name, id)
		}
		seen[id] = one
	}
	ours := 0
	for _, one := range p.all {
		if one.kind != kind || one.state == nil || !p.matches(one, by) {
			continue
		}
		ours++
		if listed := seen[one.id()]; listed == nil {
			p.wrong("%s: %s is not listed by %+v", kind.name, one.id(), by)
		} else if !proto.Equal(listed, one.state) {
			p.wrong("%s: listed as %s, read as %s", kind.name, text(listed), text(one.state))
		}
	}
	// Others have records elsewhere, under other names.
	if by != (filter{}) && len(found) != ours {
		p.wrong("%s: %d listed by %+v, expected %d", kind.name, len(found), by, ours)
	}
}

func (p *provider) matches(r *resource, by filter) bool {
	if by.name != "" {
		named, ok := r.state.(interface{ GetName() string })
		return ok && named.GetName() == by.name
	}
	// The group itself is among them.
	return true
}

// The record under that id. False when it was not read.
func (p *provider) read(kind *kind, id string) (proto.Message, bool) {
	var found []proto.Message
	_, ok := p.call(kind.name+" read", func(ctx context.Context) (_ proto.Message, err error) {
		found, err = kind.list(ctx, filter{id: id})
		return nil, err
	})
	if !ok {
		return nil, false
	}
	if len(found) != 1 || kind.idOf(found[0]) != id {
		p.wrong("%s: %d records have the id %q", kind.name, len(found), id)
		return nil, false
	}
	return found[0], true
}

// One call, never repeated. False when it failed.
func (p *provider) call(name string, do func(ctx context.Context) (proto.Message, error)) (proto.Message, bool) {
	ctx, cancel := context.WithTimeout(context.Background(), callTimeout)
	defer cancel()
	began := time.Now()
	made, err := do(metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer "+p.token))
	took := float64(time.Since(began).Microseconds()) / 1000
	p.lock.Lock()
	defer p.lock.Unlock()
	p.said.Calls++
	p.said.SlowestMs = max(p.said.SlowestMs, took)
	if err != nil {
		said := status.Convert(err)
		p.fail(failure{Call: name, Code: said.Code().String(), Message: said.Message(), Count: 1})
	}
	return made, err == nil
}

func (p *provider) fail(one failure) {
	for i, other := range p.said.Failures {
		if other.Call == one.Call && other.Code == one.Code && other.Message == one.Message {
			p.said.Failures[i].Count++
			return
		}
	}
	p.said.Failures = append(p.said.Failures, one)
}

func (p *provider) count(what *int) {
	p.lock.Lock()
	defer p.lock.Unlock()
	*what++
}

func (p *provider) expectWanted(how string, r *resource, found proto.Message) {
	if !p.isWanted(r, found) {
		p.wrong("%s: %s as %s, expected %s", r.kind.name, how, text(found), text(r.wanted(p.less)))
	}
}

func (p *provider) wrong(format string, words ...any) {
	p.lock.Lock()
	defer p.lock.Unlock()
	if len(p.said.Wrong) < mostWrong {
		p.said.Wrong = append(p.said.Wrong, fmt.Sprintf(format, words...))
	}
}

func text(message proto.Message) string { return protojson.MarshalOptions{}.Format(message) }

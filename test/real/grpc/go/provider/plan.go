package main

import (
	"fmt"

	"google.golang.org/protobuf/proto"

	"carryover.test/client/gen/iam"
	"carryover.test/client/gen/registry"
)

// One record of the configuration, and what the client knows of it.
type resource struct {
	kind *kind
	// Below which it is created. Nil: below the root.
	parent *resource
	// What has to be there first, the parent included.
	needs []*resource
	// What the configuration says, once the ids of others are known. `less`: with attributes removed.
	wanted func(less bool) proto.Message
	// As the platform showed it last. Nil: it does not exist.
	state proto.Message
}

func (r *resource) id() string {
	if r.state == nil {
		return ""
	}
	return r.kind.idOf(r.state)
}

const (
	teams       = 4
	subgroups   = 3
	prefix      = "iac "
	digestOfTag = "sha256:%064x"
)

// Everything that the configuration names: each kind of record, some of them below others.
func configuration(kinds map[string]*kind) []*resource {
	var all []*resource
	add := func(kind string, parent *resource, needs []*resource, wanted func(less bool) proto.Message) *resource {
		if parent != nil {
			needs = append(needs, parent)
		}
		made := &resource{kind: kinds[kind], parent: parent, needs: needs, wanted: wanted}
		all = append(all, made)
		return made
	}
	base := add("groups", nil, nil, group("base"))
	for i := range teams {
		team := add("groups", base, nil, group(fmt.Sprintf("team %d", i)))
		for j := range subgroups {
			add("groups", team, nil, group(fmt.Sprintf("team %d.%d", i, j)))
		}
		reader := add("roles", base, nil, role(i))
		other := add("roles", team, nil, role(teams+i))
		for j := range subgroups {
			robot := add("identities", team, nil, identity(i, j))
			add("roleBindings", team, []*resource{robot, reader, other}, binding(robot, reader, other))
		}
		add("identityProviders", team, []*resource{reader}, identityProvider(i, reader))
		add("accountAssociations", team, nil, association(i))
		add("groupInvites", team, []*resource{reader}, invite(i, reader))
		image := add("repos", team, nil, repo(i))
		for j := range subgroups {
			add("tags", image, nil, tag(i, j))
		}
	}
	return all
}

func named(word string) string { return prefix + word }

func group(word string) func(bool) proto.Message {
	return func(less bool) proto.Message {
		made := &iam.Group{Name: named(word), Description: "of " + word + " – ü"}
		if less {
			made.Description = ""
		}
		return made
	}
}

func role(i int) func(bool) proto.Message {
	return func(less bool) proto.Message {
		made := &iam.Role{Name: named(fmt.Sprint("role ", i)), Description: "reads", Capabilities: []string{"groups.list", "roles.list"}}
		if less {
			made.Description, made.Capabilities = "", made.Capabilities[:1]
		}
		return made
	}
}

// Either by claims or by keys.
func identity(i, j int) func(bool) proto.Message {
	return func(less bool) proto.Message {
		made := &iam.Identity{Name: named(fmt.Sprintf("identity %d.%d", i, j)), Description: "robot"}
		subject := fmt.Sprintf("repo:%d/%d", i, j)
		if j == 0 {
			keys := &iam.Identity_StaticKeys{Issuer: "https://keys.example.com", Subject: subject, IssuerKeys: "{}", Audiences: []string{"a", "b"}}
			made.Relationship = &iam.Identity_Static{Static: keys}
			if less {
				made.Description, keys.Audiences = "", nil
			}
			return made
		}
		match := &iam.Identity_ClaimMatch{
			Iss:    &iam.Identity_ClaimMatch_Issuer{Issuer: "https://issuer.example.com"},
			Sub:    &iam.Identity_ClaimMatch_Subject{Subject: subject},
			Aud:    &iam.Identity_ClaimMatch_Audience{Audience: "here"},
			Claims: map[string]string{"ref": "main", "env": "ci"},
		}
		made.Relationship = &iam.Identity_ClaimMatch_{ClaimMatch: match}
		if less {
			made.Description, match.Aud, match.Claims = "", nil, nil
		}
		return made
	}
}

// Its role is replaced; a binding has no attribute that could be left out.
func binding(identity, role, other *resource) func(bool) proto.Message {
	return func(less bool) proto.Message {
		if less {
			role = other
		}
		return &iam.RoleBinding{Identity: identity.id(), Role: role.id()}
	}
}

func identityProvider(i int, role *resource) func(bool) proto.Message {
	return func(less bool) proto.Message {
		oidc := &iam.IdentityProvider_OIDC{
			Issuer: "https://idp.example.com", ClientId: fmt.Sprint("client-", i), ClientSecret: "secret",
			AdditionalScopes: []string{"email", "groups"}, GroupsClaim: "groups", PkceEnabled: true,
		}
		made := &iam.IdentityProvider{
			Name: named(fmt.Sprint("provider ", i)), Description: "logs in", DefaultRole: role.id(),
			Configuration: &iam.IdentityProvider_Oidc{Oidc: oidc},
		}
		if less {
			// v2 does not let the default role be empty.
			made.Description = ""
			oidc.AdditionalScopes, oidc.GroupsClaim, oidc.PkceEnabled = nil, "", false
		}
		return made
	}
}

func association(i int) func(bool) proto.Message {
	return func(less bool) proto.Message {
		account := fmt.Sprintf("%012d", i)
		made := &iam.AccountAssociations{
			Name: named(fmt.Sprint("cloud ", i)), Description: "of two clouds", Amazon: &iam.AccountAssociations_Amazon{Account: account},
			Google: &iam.AccountAssociations_Google{ProjectId: "p", ProjectNumber: account},
		}
		if less {
			made.Description, made.Google = "", nil
		}
		return made
	}
}

func invite(i int, role *resource) func(bool) proto.Message {
	return func(bool) proto.Message {
		return &iam.StoredGroupInvite{Role: &iam.Role{Id: role.id()}, Email: fmt.Sprintf("person-%d@example.com", i), SingleUse: true}
	}
}

func repo(i int) func(bool) proto.Message {
	return func(less bool) proto.Message {
		overlay := &registry.CustomOverlay{
			Contents:    &registry.ImageContents{Packages: []string{"curl"}},
			Environment: map[string]string{"A": "b"},
		}
		made := &registry.Repo{
			Name: fmt.Sprint("iac-image-", i), Description: "an image", Bundles: []string{"b"}, Aliases: []string{"i"}, CustomOverlay: overlay,
		}
		if less {
			made.Description, made.Bundles, made.Aliases, overlay.Environment = "", nil, nil, nil
		}
		return made
	}
}

func tag(i, j int) func(bool) proto.Message {
	return func(less bool) proto.Message {
		digest := fmt.Sprintf(digestOfTag, i*subgroups+j)
		made := &registry.Tag{Name: fmt.Sprintf("v%d.%d", i, j), Digest: digest, Bundles: []string{"b"}, Deprecated: true}
		if less {
			made.Bundles, made.Deprecated = nil, false
		}
		return made
	}
}

package main

import (
	"context"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/durationpb"

	"carryover.test/client/gen/common"
	"carryover.test/client/gen/iam"
	"carryover.test/client/gen/registry"
)

// What one kind of record is called by. Empty words of a filter do not filter.
type kind struct {
	name   string
	create func(ctx context.Context, parent string, wanted proto.Message) (proto.Message, error)
	// Nil: such a record is never changed.
	update func(ctx context.Context, wanted proto.Message) (proto.Message, error)
	list   func(ctx context.Context, by filter) ([]proto.Message, error)
	remove func(ctx context.Context, id string) error
	// The field that names a record.
	id string
	// The filters that its lists have, besides the id.
	below, byName bool
	// The fields that no configuration sets, and those that no response shows.
	computed []string
}

type filter struct{ id, below, name string }

func (by filter) uidp() *common.UIDPFilter {
	if by.below == "" {
		return nil
	}
	return &common.UIDPFilter{DescendantsOf: by.below}
}

func (k *kind) idOf(record proto.Message) string {
	fields := record.ProtoReflect()
	return fields.Get(fields.Descriptor().Fields().ByName(protoreflect.Name(k.id))).String()
}

// The record under that id, as a client sends it to change it.
func (k *kind) named(record proto.Message, id string) proto.Message {
	made := proto.Clone(record)
	fields := made.ProtoReflect()
	fields.Set(fields.Descriptor().Fields().ByName(protoreflect.Name(k.id)), protoreflect.ValueOfString(id))
	return made
}

// What a plan compares.
func (k *kind) configured(record proto.Message) proto.Message {
	made := proto.Clone(record)
	for _, path := range k.computed {
		clearField(made.ProtoReflect(), strings.Split(path, "."))
	}
	return made
}

func clearField(fields protoreflect.Message, path []string) {
	field := fields.Descriptor().Fields().ByName(protoreflect.Name(path[0]))
	if len(path) == 1 {
		fields.Clear(field)
	} else if fields.Has(field) {
		clearField(fields.Mutable(field).Message(), path[1:])
	}
}

func messages[M proto.Message](items []M, err error) ([]proto.Message, error) {
	all := make([]proto.Message, len(items))
	for i, item := range items {
		all[i] = item
	}
	return all, err
}

func kindsOf(connection *grpc.ClientConn) map[string]*kind {
	all := map[string]*kind{}
	for _, one := range []*kind{
		groups(iam.NewGroupsClient(connection)),
		roles(iam.NewRolesClient(connection)),
		identities(iam.NewIdentitiesClient(connection)),
		bindings(iam.NewRoleBindingsClient(connection)),
		providers(iam.NewIdentityProvidersClient(connection)),
		associations(iam.NewGroupAccountAssociationsClient(connection)),
		invites(iam.NewGroupInvitesClient(connection)),
		repos(registry.NewRegistryClient(connection)),
		tags(registry.NewRegistryClient(connection)),
	} {
		all[one.name] = one
	}
	return all
}

func groups(client iam.GroupsClient) *kind {
	return &kind{
		name: "groups", id: "id", below: true, byName: true, computed: []string{"id", "resource_limits", "verified", "kind", "status"},
		create: func(ctx context.Context, parent string, wanted proto.Message) (proto.Message, error) {
			return client.Create(ctx, &iam.CreateGroupRequest{Parent: parent, Group: wanted.(*iam.Group)})
		},
		update: func(ctx context.Context, wanted proto.Message) (proto.Message, error) {
			return client.Update(ctx, wanted.(*iam.Group))
		},
		list: func(ctx context.Context, by filter) ([]proto.Message, error) {
			list, err := client.List(ctx, &iam.GroupFilter{Id: by.id, Uidp: by.uidp(), Name: by.name})
			return messages(list.GetItems(), err)
		},
		remove: func(ctx context.Context, id string) error {
			_, err := client.Delete(ctx, &iam.DeleteGroupRequest{Id: id})
			return err
		},
	}
}

func roles(client iam.RolesClient) *kind {
	return &kind{
		name: "roles", id: "id", below: true, byName: true, computed: []string{"id"},
		create: func(ctx context.Context, parent string, wanted proto.Message) (proto.Message, error) {
			return client.Create(ctx, &iam.CreateRoleRequest{ParentId: parent, Role: wanted.(*iam.Role)})
		},
		update: func(ctx context.Context, wanted proto.Message) (proto.Message, error) {
			return client.Update(ctx, wanted.(*iam.Role))
		},
		list: func(ctx context.Context, by filter) ([]proto.Message, error) {
			list, err := client.List(ctx, &iam.RoleFilter{Id: by.id, Uidp: by.uidp(), Name: by.name})
			return messages(list.GetItems(), err)
		},
		remove: func(ctx context.Context, id string) error {
			_, err := client.Delete(ctx, &iam.DeleteRoleRequest{Id: id})
			return err
		},
	}
}

func identities(client iam.IdentitiesClient) *kind {
	return &kind{
		name: "identities", id: "id", below: true, computed: []string{"id", "created_at", "updated_at", "last_seen"},
		create: func(ctx context.Context, parent string, wanted proto.Message) (proto.Message, error) {
			return client.Create(ctx, &iam.CreateIdentityRequest{ParentId: parent, Identity: wanted.(*iam.Identity)})
		},
		update: func(ctx context.Context, wanted proto.Message) (proto.Message, error) {
			return client.Update(ctx, wanted.(*iam.Identity))
		},
		list: func(ctx context.Context, by filter) ([]proto.Message, error) {
			list, err := client.List(ctx, &iam.IdentityFilter{Id: by.id, Uidp: by.uidp()})
			return messages(list.GetItems(), err)
		},
		remove: func(ctx context.Context, id string) error {
			_, err := client.Delete(ctx, &iam.DeleteIdentityRequest{Id: id})
			return err
		},
	}
}

// A list shows group and role of a binding as records; a configuration has their ids.
func bindings(client iam.RoleBindingsClient) *kind {
	return &kind{
		name: "roleBindings", id: "id", below: true, computed: []string{"id", "group"},
		create: func(ctx context.Context, parent string, wanted proto.Message) (proto.Message, error) {
			return client.Create(ctx, &iam.CreateRoleBindingRequest{Parent: parent, RoleBinding: wanted.(*iam.RoleBinding)})
		},
		update: func(ctx context.Context, wanted proto.Message) (proto.Message, error) {
			return client.Update(ctx, wanted.(*iam.RoleBinding))
		},
		list: func(ctx context.Context, by filter) ([]proto.Message, error) {
			list, err := client.List(ctx, &iam.RoleBindingFilter{Id: by.id, Uidp: by.uidp()})
			all := make([]*iam.RoleBinding, len(list.GetItems()))
			for i, one := range list.GetItems() {
				all[i] = &iam.RoleBinding{Id: one.Id, Identity: one.Identity, Group: one.Group.GetId(), Role: one.Role.GetId()}
			}
			return messages(all, err)
		},
		remove: func(ctx context.Context, id string) error {
			_, err := client.Delete(ctx, &iam.DeleteRoleBindingRequest{Id: id})
			return err
		},
	}
}

func providers(client iam.IdentityProvidersClient) *kind {
	return &kind{
		name: "identityProviders", id: "id", below: true, byName: true, computed: []string{"id", "scim", "oidc.client_secret"},
		create: func(ctx context.Context, parent string, wanted proto.Message) (proto.Message, error) {
			provider := wanted.(*iam.IdentityProvider)
			return client.Create(ctx, &iam.CreateIdentityProviderRequest{ParentId: parent, IdentityProvider: provider})
		},
		update: func(ctx context.Context, wanted proto.Message) (proto.Message, error) {
			return client.Update(ctx, wanted.(*iam.IdentityProvider))
		},
		list: func(ctx context.Context, by filter) ([]proto.Message, error) {
			list, err := client.List(ctx, &iam.IdentityProviderFilter{Id: by.id, Uidp: by.uidp(), Name: by.name})
			return messages(list.GetItems(), err)
		},
		remove: func(ctx context.Context, id string) error {
			_, err := client.Delete(ctx, &iam.DeleteIdentityProviderRequest{Id: id})
			return err
		},
	}
}

// A group has one at most, which has the group's id.
func associations(client iam.GroupAccountAssociationsClient) *kind {
	made := &kind{name: "accountAssociations", id: "group", byName: true, computed: []string{"group"}}
	made.create = func(ctx context.Context, parent string, wanted proto.Message) (proto.Message, error) {
		return client.Create(ctx, made.named(wanted, parent).(*iam.AccountAssociations))
	}
	made.update = func(ctx context.Context, wanted proto.Message) (proto.Message, error) {
		return client.Update(ctx, wanted.(*iam.AccountAssociations))
	}
	made.list = func(ctx context.Context, by filter) ([]proto.Message, error) {
		list, err := client.List(ctx, &iam.AccountAssociationsFilter{Group: by.id, Name: by.name})
		return messages(list.GetItems(), err)
	}
	made.remove = func(ctx context.Context, id string) error {
		_, err := client.Delete(ctx, &iam.DeleteAccountAssociationsRequest{Group: id})
		return err
	}
	return made
}

// Nobody changes an invite. Lists show another message than the response to a create, without its code.
func invites(client iam.GroupInvitesClient) *kind {
	made := &kind{name: "groupInvites", id: "id"}
	made.computed = []string{"id", "expiration", "key_id", "created_at", "role.name", "role.description", "role.capabilities"}
	made.create = func(ctx context.Context, parent string, wanted proto.Message) (proto.Message, error) {
		invite := wanted.(*iam.StoredGroupInvite)
		request := &iam.GroupInviteRequest{
			Group: parent, Role: invite.Role.Id, Email: invite.Email, SingleUse: invite.SingleUse, Ttl: durationpb.New(24 * time.Hour),
		}
		created, err := client.Create(ctx, request)
		if err != nil {
			return nil, err
		}
		return made.named(invite, created.Id), nil
	}
	made.list = func(ctx context.Context, by filter) ([]proto.Message, error) {
		list, err := client.List(ctx, &iam.GroupInviteFilter{Id: by.id})
		return messages(list.GetItems(), err)
	}
	made.remove = func(ctx context.Context, id string) error {
		_, err := client.Delete(ctx, &iam.DeleteGroupInviteRequest{Id: id})
		return err
	}
	return made
}

func repos(client registry.RegistryClient) *kind {
	return &kind{
		name: "repos", id: "id", below: true, byName: true, computed: []string{"id", "create_time"},
		create: func(ctx context.Context, parent string, wanted proto.Message) (proto.Message, error) {
			return client.CreateRepo(ctx, &registry.CreateRepoRequest{ParentId: parent, Repo: wanted.(*registry.Repo)})
		},
		update: func(ctx context.Context, wanted proto.Message) (proto.Message, error) {
			return client.UpdateRepo(ctx, wanted.(*registry.Repo))
		},
		list: func(ctx context.Context, by filter) ([]proto.Message, error) {
			list, err := client.ListRepos(ctx, &registry.RepoFilter{Id: by.id, Uidp: by.uidp(), Name: by.name})
			return messages(list.GetItems(), err)
		},
		remove: func(ctx context.Context, id string) error {
			_, err := client.DeleteRepo(ctx, &registry.DeleteRepoRequest{Id: id})
			return err
		},
	}
}

func tags(client registry.RegistryClient) *kind {
	return &kind{
		name: "tags", id: "id", below: true, byName: true, computed: []string{"id", "last_updated"},
		create: func(ctx context.Context, parent string, wanted proto.Message) (proto.Message, error) {
			return client.CreateTag(ctx, &registry.CreateTagRequest{RepoId: parent, Tag: wanted.(*registry.Tag)})
		},
		update: func(ctx context.Context, wanted proto.Message) (proto.Message, error) {
			return client.UpdateTag(ctx, wanted.(*registry.Tag))
		},
		list: func(ctx context.Context, by filter) ([]proto.Message, error) {
			list, err := client.ListTags(ctx, &registry.TagFilter{Id: by.id, Uidp: by.uidp(), Name: by.name})
			return messages(list.GetItems(), err)
		},
		remove: func(ctx context.Context, id string) error {
			_, err := client.DeleteTag(ctx, &registry.DeleteTagRequest{Id: id})
			return err
		},
	}
}

import { urlGroups } from '../../../../lambdas/wire/urlGroupAnswers.ts';
import { path } from '../../api/client.ts';
import { ResourceList } from '../../lists/resourceList.tsx';
import { go, href, type Place } from '../../place.ts';
import { change, ActionForm } from '../../ui/action.tsx';
import { UrlGroup } from './urlGroup.tsx';

export function UrlGroups({ place }: { readonly place: Place }) {
  const [, name] = place.path;
  if (name !== undefined) return <UrlGroup name={name} />;
  return (
    <ResourceList
      title="URL groups"
      place={place}
      shape={urlGroups}
      path="v2/topics"
      rowsOf={(groups) => groups}
      actions={({ items }) => <MakeGroup taken={items?.map(({ name }) => name) ?? []} />}
      empty={['No URL groups yet.', <p>Create one: a message to it goes to each of its endpoints.</p>]}
      caption="URL groups, by name"
      keyOf={({ name }) => name}
      columns={[
        { head: 'Name', text: ({ name }) => name, to: ({ name }) => href(['url-groups', name]) },
        { head: 'Endpoints', count: ({ endpoints }) => endpoints.length },
        { head: 'Default headers', count: ({ headers }) => Object.keys(headers).length },
        { head: 'Changed', time: ({ updatedAt }) => updatedAt },
      ]}
    />
  );
}

const MakeGroup = ({ taken }: { readonly taken: readonly string[] }) => (
  <ActionForm
    name="New URL group"
    kind="main"
    title="New URL group"
    yes="Create"
    fields={{
      name: {
        label: 'Name',
        about: /^(There is a URL group|The name)/,
        required: true,
        autoFocus: true,
        hint: 'Letters, digits, “.”, “_” and “-”.',
      },
      url: {
        label: 'URL of its first endpoint',
        type: 'url',
        placeholder: 'https://example.com/hook',
        required: true,
      },
    }}
    work={async ({ name, url }) => {
      // The API would add the endpoint to the existing group.
      if (taken.includes(name)) throw new Error(`There is a URL group “${name}” already.`);
      await change({ path: path`v2/topics/${name}/endpoints`, body: { endpoints: [{ url }] } });
      go(href(['url-groups', name]));
      return `The URL group “${name}” has been created.`;
    }}
  />
);

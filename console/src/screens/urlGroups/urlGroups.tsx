import { useState } from 'preact/hooks';
import { urlGroups } from '../../../../lambdas/wire/urlGroupAnswers.ts';
import { useMayWrite } from '../../access.ts';
import { path } from '../../api/client.ts';
import { usePages } from '../../api/useAsked.ts';
import { go, href, type Place } from '../../place.ts';
import { change, Opens } from '../../ui/act.tsx';
import { Cut, Empty, Page } from '../../ui/basics.tsx';
import { TextField } from '../../ui/fields.tsx';
import { Confirm } from '../../ui/dialog.tsx';
import { Listed, Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { UrlGroup } from './urlGroup.tsx';

export function UrlGroups({ place: { path: place } }: { readonly place: Place }) {
  const [, name] = place;
  return name === undefined ? <Groups /> : <UrlGroup name={name} />;
}

function Groups() {
  const list = usePages(urlGroups, { path: 'v2/topics' }, (groups) => groups);
  const make = useMayWrite() && (
    <Opens name="New URL group" kind="main">
      {(close) => <MakeGroup taken={list.items?.map(({ name }) => name) ?? []} onClose={close} />}
    </Opens>
  );
  return (
    <Page title="URL groups" actions={make}>
      <Listed
        list={list}
        empty={
          <Empty title="No URL groups yet.">
            <p>Create one: a message to it goes to each of its endpoints.</p>
          </Empty>
        }
      >
        {(groups) => (
          <Table
            caption="URL groups, by name"
            rows={groups}
            keyOf={({ name }) => name}
            columns={[
              {
                head: 'Name',
                isWide: true,
                cell: ({ name }) => (
                  <a href={href(['url-groups', name])}>
                    <Cut text={name} />
                  </a>
                ),
              },
              { head: 'Endpoints', isNumber: true, cell: ({ endpoints }) => endpoints.length },
              {
                head: 'Default headers',
                isNumber: true,
                cell: ({ headers }) => Object.keys(headers).length,
              },
              { head: 'Changed', cell: ({ updatedAt }) => <Time at={updatedAt} /> },
            ]}
          />
        )}
      </Listed>
    </Page>
  );
}

function MakeGroup({
  taken,
  onClose,
}: {
  readonly taken: readonly string[];
  readonly onClose: (isDone: boolean) => void;
}) {
  const [name, setName] = useState('');
  const [url, setUrl] = useState('');
  const work = async (): Promise<string> => {
    // The API would add the endpoint to the existing group.
    if (taken.includes(name)) throw new Error(`There is a URL group “${name}” already.`);
    await change({ path: path`v2/topics/${name}/endpoints`, body: { endpoints: [{ url }] } });
    go(href(['url-groups', name]));
    return `The URL group “${name}” is made.`;
  };
  return (
    <Confirm title="New URL group" yes="Create" work={work} onClose={onClose}>
      <TextField
        label="Name"
        about={/^(There is a URL group|The name)/}
        value={name}
        onInput={setName}
        required
        autoFocus
        hint="Letters, digits, “.”, “_” and “-”."
      />
      <TextField
        label="URL of its first endpoint"
        about="url"
        type="url"
        placeholder="https://example.com/hook"
        value={url}
        onInput={setUrl}
        required
      />
    </Confirm>
  );
}

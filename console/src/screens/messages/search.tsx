/** Searches the bodies of messages in the log. The states of the messages come from the list of messages. */
import { useState } from 'preact/hooks';
import { logPage, messagePage, type Answer, type listedMessage } from '../../../../lambdas/wire/answers.ts';
import { useAsked, usePages } from '../../api/useAsked.ts';
import { Empty, Failure } from '../../ui/basics.tsx';
import { Listed } from '../../ui/table.tsx';
import { searchRows, Searched } from '../../lists/resourceList.tsx';
import { MessageTable } from './messageTable.tsx';

type Message = Answer<typeof listedMessage>;

/** Filters that only the list of messages has. */
const notInLog = ['kind', 'state'];

/** As many ids as fit into an address. */
const atOnce = 50;

/**
 * Loads messages by id, some at a time.
 *
 * @returns the loaded ones by id; null for expired ones
 */
function useMessages(ids: readonly string[]) {
  const [messages, setMessages] = useState<ReadonlyMap<string, Message | null>>(new Map());
  const missing = ids.filter((id) => !messages.has(id)).slice(0, atOnce);
  const query = { messageIds: missing.join(','), state: 'ALL', count: atOnce };
  const { answer, error } = useAsked(
    messagePage,
    missing.length === 0 ? undefined : { path: 'v2/messages', query },
  );
  if (answer !== undefined) {
    const found = new Map(answer.messages.map((one) => [one.messageId, one]));
    setMessages(new Map([...messages, ...missing.map((id) => [id, found.get(id) ?? null] as const)]));
  }
  return { messages, error };
}

/** @param query the filters. Each message has one log entry with the state CREATED */
export function FoundMessages({ query }: { readonly query: URLSearchParams }) {
  const asked = new URLSearchParams([...query].filter(([name]) => !notInLog.includes(name)));
  asked.set('state', 'CREATED');
  asked.set('count', '100');
  // The log would ignore other filters if it got `messageIds`.
  const ids = asked.get('messageIds');
  asked.delete('messageIds');
  if (ids !== null) asked.set('messageId', ids);
  // Not reloaded, because a search is expensive.
  const list = usePages(logPage, { path: 'v2/logs', query: asked }, (page) => searchRows(page, page.logs), 0);
  const entries = (list.items ?? []).flatMap(({ row }) => row ?? []);
  const { messages, error } = useMessages(entries.map(({ messageId }) => messageId));
  const states = query.get('state')?.split(',') ?? [];
  const isWanted = ({ state }: Message): boolean => states.includes('ALL') || states.includes(state);
  return (
    <>
      {error !== undefined && <Failure error={error} />}
      <Listed list={list} empty={null}>
        {(items) => {
          const found = entries.flatMap(({ messageId }) => messages.get(messageId) ?? []).filter(isWanted);
          const isLoading = entries.some(({ messageId }) => !messages.has(messageId));
          return (
            <>
              <Searched of={items} hasMore={list.more !== undefined} />
              {found.length > 0 ? (
                <MessageTable caption="Messages whose bodies contain the text, the newest first" of={found} />
              ) : (
                !isLoading && <Empty title="No message matches these filters." />
              )}
            </>
          );
        }}
      </Listed>
    </>
  );
}

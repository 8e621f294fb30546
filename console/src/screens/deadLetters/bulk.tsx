/** Buttons that retry or delete dead letters: one, the selected ones, or all that match. */
import { useRef, useState } from 'preact/hooks';
import { deleted, retriedPage } from '../../../../lambdas/wire/answers.ts';
import { pagesOf } from '../../api/client.ts';
import { Opens } from '../../ui/act.tsx';
import { Bulk, Filter, queriesOfIds } from '../../ui/bulk.tsx';
import { TextField } from '../../ui/fields.tsx';
import { ChangedSettings } from '../../ui/settings.tsx';
import { sentAs, settingHeaders, type SettingTexts } from '../../ui/settingTexts.ts';
import { hrefOfMessages } from '../messages/links.ts';

interface ActsProps {
  /** The words after the verb: `all 12`. */
  readonly which: string;
  /** Whether the button is hidden because there are no dead letters. */
  readonly isHidden?: boolean;
  /** The ids of the dead letters; undefined for all that the query selects. */
  readonly ids?: readonly string[];
  readonly query: URLSearchParams;
  readonly words?: string;
  /** @param sent ids of the new messages */
  readonly then: (sent: readonly string[]) => void;
}

export function RetryOne({ dlqId, then }: { readonly dlqId: string; readonly then: ActsProps['then'] }) {
  const sent = useRef<readonly string[]>([]);
  return (
    <Opens
      name="Retry…"
      kind="main"
      then={() => {
        then(sent.current);
      }}
    >
      {(onClose) => <Retry ids={[dlqId]} query={new URLSearchParams()} sent={sent} onClose={onClose} />}
    </Opens>
  );
}

export function DeadLetterActs({ which, isHidden = false, then, ...acts }: ActsProps) {
  const sent = useRef<readonly string[]>([]);
  return (
    <>
      <Opens
        name={`Retry ${which}…`}
        isHidden={isHidden}
        then={() => {
          then(sent.current);
        }}
      >
        {(onClose) => <Retry {...acts} sent={sent} onClose={onClose} />}
      </Opens>
      <Opens
        name={`Delete ${which}…`}
        isHidden={isHidden}
        then={() => {
          then([]);
        }}
      >
        {(onClose) => <Delete {...acts} onClose={onClose} />}
      </Opens>
    </>
  );
}

type DialogProps = Omit<ActsProps, 'which' | 'isHidden' | 'then'> & {
  readonly onClose: (isDone: boolean) => void;
};

const deadLetters = { noun: 'dead letter', path: 'v2/dlq/count' } as const;

/** Dead letters per request. Between requests, the progress is shown and the user can stop. */
const atOnce = 100;

/** The queries of a bulk operation. Without ids, one query is repeated with cursors. */
const queriesOf = (query: URLSearchParams, ids: readonly string[] | undefined): readonly URLSearchParams[] =>
  ids === undefined
    ? [new URLSearchParams([...query, ['count', String(atOnce)]])]
    : queriesOfIds(ids, atOnce);

function Retry({
  query,
  words,
  sent,
  onClose,
  ...props
}: DialogProps & { readonly sent: { current: readonly string[] } }) {
  // The dialogue keeps the selection that it was opened with, even if the list changes.
  const [ids] = useState(props.ids);
  const [texts, setTexts] = useState<SettingTexts>({});
  return (
    <Bulk
      {...deadLetters}
      verb="Retry"
      done="sent again"
      query={query}
      known={ids?.length}
      onClose={onClose}
      linkOf={() => (sent.current.length === 0 ? undefined : hrefOfMessages(sent.current))}
      work={async function* (selected) {
        sent.current = [];
        const settings = sentAs(settingHeaders(texts));
        const request = { method: 'POST', path: 'v2/dlq/retry', headers: settings.headers } as const;
        for (const part of queriesOf(selected, ids)) {
          const query = new URLSearchParams([...part, ...settings.query]);
          for await (const { responses } of pagesOf(retriedPage, { ...request, query })) {
            sent.current = [...sent.current, ...responses.map(({ messageId }) => messageId)];
            yield responses.length;
          }
        }
      }}
    >
      <Filter words={words} />
      <p>Each is sent again as a new message, and disappears from this list.</p>
      {ids?.length !== 1 && <Pace texts={texts} onChange={setTexts} />}
      <ChangedSettings form="retry" texts={texts} onChange={setTexts} />
    </Bulk>
  );
}

/** Names a retry's flow-control key: `retry-2026-11-27-18-05-00`. */
const newKey = (): string => `retry-${new Date().toISOString().slice(0, 19).replaceAll(/[T:]/g, '-')}`;

/** Slows down a retry with a separate flow-control key, unless the settings name another. */
function Pace({
  texts,
  onChange,
}: {
  readonly texts: SettingTexts;
  readonly onChange: (texts: SettingTexts) => void;
}) {
  const [made] = useState(newKey);
  const rate = texts['rate'] ?? '';
  const key = texts['flow-control-key'] ?? '';
  return (
    <TextField
      label="At most this many a second"
      type="number"
      placeholder="all at once"
      value={texts['period'] === '1s' ? rate : ''}
      onInput={(text) => {
        const isOwn = key === '' || key === made;
        onChange({
          ...texts,
          rate: text,
          period: text === '' ? '' : '1s',
          'flow-control-key': isOwn ? (text === '' ? '' : made) : key,
        });
      }}
      hint={
        key === made && (
          <>
            They get the flow-control key <code>{made}</code>, with which you can pause them or change their
            speed.
          </>
        )
      }
    />
  );
}

function Delete({ query, words, onClose, ...props }: DialogProps) {
  const [ids] = useState(props.ids);
  return (
    <Bulk
      {...deadLetters}
      verb="Delete"
      done="deleted"
      query={query}
      known={ids?.length}
      isDangerous
      onClose={onClose}
      work={async function* (selected) {
        for (const query of queriesOf(selected, ids)) {
          for await (const part of pagesOf(deleted, { method: 'DELETE', path: 'v2/dlq', query })) {
            yield part.deleted;
          }
        }
      }}
    >
      <Filter words={words} />
      <p>They can no longer be sent again or inspected.</p>
    </Bulk>
  );
}

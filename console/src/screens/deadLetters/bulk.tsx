/** Buttons that retry or delete dead letters: one, the selected ones, or all that match. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { retriedPage } from '../../../../lambdas/wire/answers.ts';
import { pagesOf } from '../../api/client.ts';
import { Opens } from '../../ui/act.tsx';
import { Bulk, DeleteAll } from '../../ui/bulk.tsx';
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
        {(onClose) => (
          <DeleteAll {...acts} {...deadLetters} onClose={onClose}>
            <p>They can no longer be sent again or inspected.</p>
          </DeleteAll>
        )}
      </Opens>
    </>
  );
}

type DialogProps = Omit<ActsProps, 'which' | 'isHidden' | 'then'> & {
  readonly onClose: (isDone: boolean) => void;
};

const deadLetters = { noun: 'dead letter', path: 'v2/dlq', atOnce: 100 } as const;

function Retry({ sent, ...props }: DialogProps & { readonly sent: { current: readonly string[] } }) {
  const [texts, setTexts] = useState<SettingTexts>({});
  useEffect(() => {
    sent.current = [];
  }, []);
  return (
    <Bulk
      {...deadLetters}
      {...props}
      path="v2/dlq/count"
      verb="Retry"
      done="sent again"
      linkOf={() => (sent.current.length === 0 ? undefined : hrefOfMessages(sent.current))}
      work={async function* (selected) {
        const settings = sentAs(settingHeaders(texts));
        const request = { method: 'POST', path: 'v2/dlq/retry', headers: settings.headers } as const;
        const query = new URLSearchParams([...selected, ...settings.query]);
        for await (const { responses } of pagesOf(retriedPage, { ...request, query })) {
          sent.current = [...sent.current, ...responses.map(({ messageId }) => messageId)];
          yield responses.length;
        }
      }}
    >
      <p>Each is sent again as a new message, and disappears from this list.</p>
      {props.ids?.length !== 1 && <Pace texts={texts} onChange={setTexts} />}
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

import type { ComponentChildren } from 'preact';
import type * as z from 'zod/mini';
import type { Readable } from '../../../lambdas/options/option.ts';
import { useMayWrite } from '../access.ts';
import type { Request } from '../api/client.ts';
import { useAsked, type Asked } from '../api/useAsked.ts';
import { Card, Failure, Loading, Page } from './basics.tsx';

interface LoadedProps<T> {
  readonly of: Asked<T>;
  readonly children: (answer: T) => ComponentChildren;
}

export const Loaded = <T,>({ of: { answer, error, again }, children }: LoadedProps<T>) => (
  <>
    {error !== undefined && <Failure error={error} again={again} />}
    {answer !== undefined ? children(answer) : error === undefined && <Loading />}
  </>
);

interface LoadedCardProps<T> extends LoadedProps<T> {
  readonly title: string;
  readonly actions?: ComponentChildren;
}

/** A part of a screen that shows an answer. */
export const LoadedCard = <T,>({ title, actions, ...loaded }: LoadedCardProps<T>) => (
  <Card title={title} actions={actions}>
    <Loaded {...loaded} />
  </Card>
);

interface ResourcePageProps<Shape extends z.ZodMiniType> extends Pick<Request, 'api' | 'path'> {
  readonly shape: Shape;
  /** How often it is loaded again, in milliseconds. Default: never. */
  readonly everyMs?: number;
  readonly title: string | ((of: Readable<z.infer<Shape>> | undefined) => string);
  readonly back?: { readonly href: string; readonly name: string };
  readonly links?: ComponentChildren;
  /** Buttons for users who may write. */
  readonly actions?: (of: Readable<z.infer<Shape>>, again: () => void) => ComponentChildren;
  readonly children: (of: Readable<z.infer<Shape>>, again: () => void) => ComponentChildren;
}

export function ResourcePage<Shape extends z.ZodMiniType>(props: ResourcePageProps<Shape>) {
  const { shape, path, api, everyMs, title, back, links, actions, children } = props;
  const asked = useAsked(shape, { path, api }, everyMs);
  const mayAct = useMayWrite() && actions !== undefined;
  const { answer, again } = asked;
  const own = mayAct && answer !== undefined && actions(answer, again);
  const all = (
    <>
      {links}
      {own}
    </>
  );
  // Without buttons, the title takes the whole line.
  const hasNone = links === undefined && (!mayAct || (answer !== undefined && own === false));
  return (
    <Page
      title={typeof title === 'string' ? title : title(answer)}
      back={back}
      actions={hasNone ? false : answer && all}
    >
      <Loaded of={asked}>{(of) => children(of, again)}</Loaded>
    </Page>
  );
}

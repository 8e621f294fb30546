import type { Place } from '../../place.ts';
import { Page } from '../../ui/basics.tsx';

export function Queues({ place }: { readonly place: Place }) {
  return <Page title="Queues">{place.path.join('/')}</Page>;
}

export function FlowControl({ place }: { readonly place: Place }) {
  return <Page title="Flow control">{place.path.join('/')}</Page>;
}

import type { Place } from '../../place.ts';
import { Page } from '../../ui/basics.tsx';

export function Runs({ place }: { readonly place: Place }) {
  return <Page title="Runs">{place.path.join('/')}</Page>;
}

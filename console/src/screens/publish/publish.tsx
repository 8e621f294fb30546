import type { Place } from '../../place.ts';
import { Page } from '../../ui/basics.tsx';

export function Publish({ place }: { readonly place: Place }) {
  return <Page title="Publish">{place.path.join('/')}</Page>;
}

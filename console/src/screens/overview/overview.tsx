import type { Place } from '../../place.ts';
import { Page } from '../../ui/basics.tsx';

export function Overview({ place }: { readonly place: Place }) {
  return <Page title="Overview">{place.path.join('/')}</Page>;
}

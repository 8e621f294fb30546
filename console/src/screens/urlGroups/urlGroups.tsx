import type { Place } from '../../place.ts';
import { Page } from '../../ui/basics.tsx';

export function UrlGroups({ place }: { readonly place: Place }) {
  return <Page title="UrlGroups">{place.path.join('/')}</Page>;
}

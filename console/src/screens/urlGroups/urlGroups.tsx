import type { Place } from '../../place.ts';
import { Page } from '../../ui/basics.tsx';

export function UrlGroups({ place }: { readonly place: Place }) {
  return <Page title="URL groups">{place.path.join('/')}</Page>;
}

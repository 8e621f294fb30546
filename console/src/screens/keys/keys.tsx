import type { Place } from '../../place.ts';
import { Page } from '../../ui/basics.tsx';

export function Keys({ place }: { readonly place: Place }) {
  return <Page title="Keys">{place.path.join('/')}</Page>;
}

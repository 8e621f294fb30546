import type { Place } from '../../place.ts';
import { Page } from '../../ui/basics.tsx';

export function Runs({ place }: { readonly place: Place }) {
  return <Page title="Workflow runs">{place.path.join('/')}</Page>;
}

/** The project of a new key, and who holds it. A developer holds every key that they make. */
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { holdersQuery, projectNamesQuery } from '../../api/organisation.js';
import { Combobox } from '../../components/combobox.js';
import { Select } from '../../components/field.js';

export interface Place {
  /** null for the default project. */
  project: string | null;
  /** The id of a member; null where the key belongs to the project. */
  holder: string | null;
}

export const placeBody = ({ project, holder }: Place, mayGive: boolean) => ({
  ...(project !== null && { project }),
  ...(mayGive && holder !== null && { holder }),
});

interface PlaceFieldsProps {
  place: Place;
  onChange: (place: Place) => void;
  mayGive: boolean;
  at: (param: string) => string | null;
}

export function PlaceFields({ place, onChange, mayGive, at }: PlaceFieldsProps) {
  const { data: projects = [] } = useQuery(projectNamesQuery);
  const first = place.project ?? projects.find(({ is_default: isDefault }) => isDefault)?.id ?? projects[0]?.id ?? '';
  return (
    <>
      {projects.length > 1 && (
        <Select
          error={at('project')}
          hint="Its budget, limits and rules hold for the key. It cannot be changed later."
          label="Project"
          onChange={(event) => onChange({ ...place, project: event.target.value })}
          options={projects.map(({ id, name }) => ({ value: id, label: name }))}
          value={first}
        />
      )}
      {mayGive && (
        <Holder error={at('holder')} onChange={(holder) => onChange({ ...place, holder })} value={place.holder} />
      )}
    </>
  );
}

interface HolderProps {
  value: string | null;
  onChange: (id: string | null) => void;
  error: string | null;
}

function Holder({ value, onChange, error }: HolderProps) {
  const [text, setText] = useState('');
  const { data: people = [] } = useQuery(holdersQuery(''));
  const { data: found = [] } = useQuery({
    ...holdersQuery(text.trim()),
    enabled: people.length >= 50 && text.trim() !== '',
  });
  const all = found.length > 0 ? found : people;
  if (people.length < 2) return null;
  const change = (email: string) => {
    setText(email);
    onChange(all.find((one) => one.email === email)?.id ?? null);
  };
  const shown = text || (all.find(({ id }) => id === value)?.email ?? '');
  const isUnknown = shown.trim() !== '' && value === null;
  return (
    <Combobox
      error={error ?? (isUnknown ? 'Choose a member from the list, or leave it empty.' : null)}
      hint="Disabled when this person leaves. Empty: it belongs to the project."
      label="Holder"
      onChange={change}
      placeholder="Nobody"
      suggestions={all.map(({ email, role }) => ({ value: email, hint: role }))}
      value={shown}
    />
  );
}

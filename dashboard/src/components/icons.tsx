/** The few icons that the dashboard uses, drawn on a 20-pixel grid with one stroke; decorative, so hidden from screen readers. */
import type { ReactNode } from 'react';

interface IconProps {
  className?: string;
}

export type Icon = (props: IconProps) => ReactNode;

function icon(drawing: ReactNode): Icon {
  return function StrokeIcon({ className = 'size-4.5' }) {
    return (
      <svg
        aria-hidden="true"
        className={className}
        fill="none"
        stroke="currentColor"
        strokeLinecap="round"
        strokeLinejoin="round"
        strokeWidth="1.5"
        viewBox="0 0 20 20"
      >
        {drawing}
      </svg>
    );
  };
}

export const OverviewIcon = icon(<path d="M3 10.5h3l2.5-6 3 11 2.5-5h3" />);
export const KeyIcon = icon(
  <>
    <circle cx="6.75" cy="13.25" r="3.25" />
    <path d="m9 11 7-7M13 7l2.5 2.5M11.2 8.8l1.6 1.6" />
  </>,
);
export const ModelIcon = icon(<path d="m10 2.75 6.5 3.6v7.3L10 17.25l-6.5-3.6v-7.3zM3.7 6.5 10 10l6.3-3.5M10 10v7" />);
export const AliasIcon = icon(
  <>
    <path d="M3 4.5v4.6c0 .5.2 1 .55 1.35l6 6a1.9 1.9 0 0 0 2.7 0l4.2-4.2a1.9 1.9 0 0 0 0-2.7l-6-6A1.9 1.9 0 0 0 9.1 3H4.5A1.5 1.5 0 0 0 3 4.5Z" />
    <circle cx="7" cy="7" r="1" />
  </>,
);
export const FallbackIcon = icon(<path d="M4 4v5a3 3 0 0 0 3 3h9M12.5 8.5 16 12l-3.5 3.5M4 4h8" />);
export const PolicyIcon = icon(
  <>
    <path d="M10 2.75 4 5v4.5c0 3.6 2.4 6.4 6 7.75 3.6-1.35 6-4.15 6-7.75V5z" />
    <path d="m7.5 10 1.8 1.8 3.4-3.6" />
  </>,
);
export const UsageIcon = icon(<path d="M3.5 5.5h13M3.5 10h13M3.5 14.5h8" />);
export const CreditsIcon = icon(
  <>
    <rect height="11" rx="2" width="14.5" x="2.75" y="4.5" />
    <path d="M2.75 8.25h14.5M6 12.25h2.5" />
  </>,
);
export const PlaygroundIcon = icon(
  <path d="M4.5 3.5h11A1.5 1.5 0 0 1 17 5v7a1.5 1.5 0 0 1-1.5 1.5H10l-4 3v-3H4.5A1.5 1.5 0 0 1 3 12V5a1.5 1.5 0 0 1 1.5-1.5Z" />,
);
export const AccountsIcon = icon(
  <>
    <circle cx="7.5" cy="7" r="2.75" />
    <path d="M2.5 16c.3-2.8 2.3-4.5 5-4.5s4.7 1.7 5 4.5M13 4.6a2.6 2.6 0 0 1 0 4.9M14.7 11.9c1.6.6 2.6 2 2.8 4.1" />
  </>,
);
export const MenuIcon = icon(<path d="M3.5 5.5h13M3.5 10h13M3.5 14.5h13" />);
export const MembersIcon = icon(
  <>
    <circle cx="10" cy="6.75" r="3" />
    <path d="M4 16.5c.4-3 2.8-4.75 6-4.75s5.6 1.75 6 4.75" />
  </>,
);
export const ProjectsIcon = icon(
  <path d="M3 5.5A1.5 1.5 0 0 1 4.5 4h3l2 2h6A1.5 1.5 0 0 1 17 7.5v7a1.5 1.5 0 0 1-1.5 1.5h-11A1.5 1.5 0 0 1 3 14.5zM3 9h14" />,
);
export const SettingsIcon = icon(<path d="M3 6h8M15 6h2M3 14h2M9 14h8M11 4v4h4V4zM5 12v4h4v-4z" />);
export const HealthIcon = icon(
  <path d="M10 16.5S3 12.6 3 7.9A3.6 3.6 0 0 1 6.7 4.3c1.4 0 2.6.7 3.3 1.9.7-1.2 1.9-1.9 3.3-1.9A3.6 3.6 0 0 1 17 7.9c0 4.7-7 8.6-7 8.6Z" />,
);
export const AvailabilityIcon = icon(<path d="M10 3v6M6.2 5.2a6 6 0 1 0 7.6 0" />);
export const AuditIcon = icon(
  <>
    <path d="M5 3h7l3.5 3.5V17H5z" />
    <path d="M12 3v3.5h3.5M7.5 10h5M7.5 13h5" />
  </>,
);
export const ImportIcon = icon(
  <>
    <path d="M10 3.5v8.5M6.5 8.75 10 12.25l3.5-3.5" />
    <path d="M4 12.5V16h12v-3.5" />
  </>,
);
export const CopyIcon = icon(
  <>
    <rect height="9.5" rx="1.75" width="9.5" x="7" y="7" />
    <path d="M13 7V5.25c0-.97-.78-1.75-1.75-1.75h-6c-.97 0-1.75.78-1.75 1.75v6c0 .97.78 1.75 1.75 1.75H7" />
  </>,
);
export const CheckIcon = icon(<path d="m4 10.5 4 4 8-9" />);
export const CloseIcon = icon(<path d="m5 5 10 10M15 5 5 15" />);
export const PlusIcon = icon(<path d="M10 4v12M4 10h12" />);
export const UpIcon = icon(<path d="M10 16V4M5 9l5-5 5 5" />);
export const DownIcon = icon(<path d="M10 4v12M5 11l5 5 5-5" />);
export const SelectIcon = icon(<path d="m6 8 4 4 4-4" />);
export const AlertIcon = icon(
  <>
    <path d="M10 3 2.75 16h14.5z" />
    <path d="M10 8v3.75M10 13.9v.1" />
  </>,
);
export const SunIcon = icon(
  <>
    <circle cx="10" cy="10" r="3.25" />
    <path d="M10 2.5v1.75M10 15.75v1.75M2.5 10h1.75M15.75 10h1.75M4.7 4.7l1.2 1.2M14.1 14.1l1.2 1.2M15.3 4.7l-1.2 1.2M5.9 14.1l-1.2 1.2" />
  </>,
);
export const MoonIcon = icon(<path d="M16.5 11.8A6.75 6.75 0 0 1 8.2 3.5a6.75 6.75 0 1 0 8.3 8.3Z" />);
export const SystemIcon = icon(
  <>
    <rect height="9.5" rx="1.75" width="14" x="3" y="3.75" />
    <path d="M7 16.5h6M10 13.25v3.25" />
  </>,
);
export const DownloadIcon = icon(<path d="M10 3v9.5M6 9l4 4 4-4M3.5 16.5h13" />);
export const SendIcon = icon(<path d="M3.5 10 16.5 4l-4 12.5-3-5.5zM9.5 11l7-7" />);
export const StopIcon = icon(<rect height="9" rx="1.5" width="9" x="5.5" y="5.5" />);
export const SignOutIcon = icon(
  <path d="M8 4H5.5A1.5 1.5 0 0 0 4 5.5v9A1.5 1.5 0 0 0 5.5 16H8M12.5 6.5 16 10l-3.5 3.5M16 10H8" />,
);
export const BookIcon = icon(
  <path d="M4 4.5A1.5 1.5 0 0 1 5.5 3H16v11.5H5.5A1.5 1.5 0 0 0 4 16zm0 0V16A1.5 1.5 0 0 0 5.5 17.5H16v-3" />,
);
export const SearchIcon = icon(
  <>
    <circle cx="9" cy="9" r="5.25" />
    <path d="m13 13 3.5 3.5" />
  </>,
);
export const CredentialIcon = icon(
  <>
    <rect height="7.5" rx="1.5" width="12" x="4" y="9" />
    <path d="M6.75 9V6.5a3.25 3.25 0 0 1 6.5 0V9M10 12v1.75" />
  </>,
);
export const ServiceIcon = icon(
  <>
    <rect height="5" rx="1.5" width="13" x="3.5" y="3.5" />
    <rect height="5" rx="1.5" width="13" x="3.5" y="11.5" />
    <path d="M6.5 6h.1M6.5 14h.1" />
  </>,
);
export const BellIcon = icon(<path d="M5 13.5V9a5 5 0 0 1 10 0v4.5l1.5 1.5h-13zM8.5 15v.5a1.5 1.5 0 0 0 3 0V15" />);
export const BackIcon = icon(<path d="M16 10H4.5M9 5.5 4.5 10 9 14.5" />);

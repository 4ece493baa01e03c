/** A QR code as a drawing of this page: no other service sees its text. */
import encodeQR from 'qr';

/** Scanners expect a light border around a dark code, in both themes. */
const border = 3;

export default function QrCode({ text, label }: { text: string; label: string }) {
  const rows = encodeQR(text, 'raw', { border });
  const path = rows
    .flatMap((row, y) => row.map((dark, x) => (dark ? `M${x} ${y}h1v1h-1z` : '')))
    .filter(Boolean)
    .join('');
  return (
    <svg
      aria-label={label}
      className="size-48 rounded-md bg-white"
      role="img"
      shapeRendering="crispEdges"
      viewBox={`0 0 ${rows.length} ${rows.length}`}
    >
      <path d={path} fill="#000" />
    </svg>
  );
}

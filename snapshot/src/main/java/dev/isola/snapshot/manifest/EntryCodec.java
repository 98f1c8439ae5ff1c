package dev.isola.snapshot.manifest;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import dev.isola.snapshot.chunk.ChunkId;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Encodes the entries of a snapshot as bytes, one row per entry. */
final class EntryCodec {
  /** Longer than any name or attribute; a corrupt length must not cause a large allocation. */
  private static final int MAX_LENGTH = 1 << 20;

  private EntryCodec() {}

  static void encode(List<SnapshotEntry> entries, OutputStream to) throws IOException {
    DataOutputStream out = new DataOutputStream(to);
    out.writeInt(entries.size());
    for (SnapshotEntry entry : entries) {
      text(out, entry.path());
      out.writeByte(entry.kind().code);
      text(out, entry.target());
      out.writeInt(entry.mode());
      out.writeLong(entry.uid());
      out.writeLong(entry.gid());
      out.writeLong(entry.size());
      out.writeLong(entry.seconds());
      out.writeInt(entry.nanos());
      out.writeInt(entry.attributes().size());
      for (Map.Entry<String, String> one : new TreeMap<>(entry.attributes()).entrySet()) {
        text(out, one.getKey());
        text(out, one.getValue());
      }
      out.writeInt(entry.chunks().size());
      for (ChunkId chunk : entry.chunks()) {
        out.write(chunk.bytes());
      }
    }
    out.flush();
  }

  /** Decodes the output of {@link #encode}, and verifies that nothing follows it. */
  static List<SnapshotEntry> decode(InputStream from) throws IOException {
    DataInputStream in = new DataInputStream(from);
    int count = length(in, Integer.MAX_VALUE);
    List<SnapshotEntry> entries = new ArrayList<>(Math.min(count, 1 << 16));
    for (int i = 0; i < count; i++) {
      entries.add(
          new SnapshotEntry(
              text(in),
              SnapshotEntry.Kind.of(in.readUnsignedByte()),
              text(in),
              in.readInt(),
              in.readLong(),
              in.readLong(),
              in.readLong(),
              in.readLong(),
              in.readInt(),
              attributes(in),
              chunks(in)));
    }
    if (in.read() >= 0) {
      throw new IOException("unexpected data after the last entry");
    }
    return entries;
  }

  private static int length(DataInputStream in, int most) throws IOException {
    int length = in.readInt();
    if (length < 0 || length > most) {
      throw new IOException("invalid length " + length);
    }
    return length;
  }

  private static Map<String, String> attributes(DataInputStream in) throws IOException {
    int left = length(in, MAX_LENGTH);
    if (left == 0) {
      return Map.of();
    }
    Map<String, String> attributes = new TreeMap<>();
    for (; left > 0; left--) {
      attributes.put(text(in), text(in));
    }
    return attributes;
  }

  private static List<ChunkId> chunks(DataInputStream in) throws IOException {
    int left = length(in, Integer.MAX_VALUE);
    List<ChunkId> chunks = new ArrayList<>(Math.min(left, 1 << 10));
    byte[] id = new byte[ChunkId.BYTES];
    for (; left > 0; left--) {
      in.readFully(id);
      chunks.add(ChunkId.of(id));
    }
    return chunks;
  }

  private static void text(DataOutputStream out, String text) throws IOException {
    byte[] bytes = text.getBytes(ISO_8859_1);
    out.writeInt(bytes.length);
    out.write(bytes);
  }

  private static String text(DataInputStream in) throws IOException {
    int length = length(in, MAX_LENGTH);
    byte[] bytes = in.readNBytes(length);
    if (bytes.length < length) {
      throw new EOFException("truncated text");
    }
    return new String(bytes, ISO_8859_1);
  }
}

package dev.isola.snapshot.manifest;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import dev.isola.snapshot.chunk.ChunkId;
import dev.isola.snapshot.chunk.ChunkWriter;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Encodes the entries of a snapshot as bytes, one row per entry. */
final class EntryCodec {
  /** The longest name or attribute. */
  private static final int MAX_TEXT = 1 << 20;

  /** The most bytes of names and attributes in a row; an agent sends less. */
  private static final int MAX_TEXTS = 8 << 20;

  /** What an attribute takes in memory beyond its bytes. */
  private static final int ATTRIBUTE_OVERHEAD = 128;

  private EntryCodec() {}

  static void encode(SnapshotEntry entry, DataOutputStream out) throws IOException {
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

  /** Decodes one row. A corrupt length does not cause a large allocation. */
  static SnapshotEntry decode(DataInputStream in) throws IOException {
    String path = text(in);
    SnapshotEntry.Kind kind = SnapshotEntry.Kind.of(in.readUnsignedByte());
    return new SnapshotEntry(
        path,
        kind,
        text(in),
        in.readInt(),
        in.readLong(),
        in.readLong(),
        in.readLong(),
        in.readLong(),
        in.readInt(),
        attributes(in),
        chunks(in));
  }

  private static int length(DataInputStream in, int most) throws IOException {
    int length = in.readInt();
    if (length < 0 || length > most) {
      throw new IOException("invalid length " + length);
    }
    return length;
  }

  private static Map<String, String> attributes(DataInputStream in) throws IOException {
    int left = length(in, MAX_TEXTS / ATTRIBUTE_OVERHEAD);
    if (left == 0) {
      return Map.of();
    }
    Map<String, String> attributes = new TreeMap<>();
    long bytes = 0;
    for (; left > 0; left--) {
      String name = text(in);
      String value = text(in);
      bytes += ATTRIBUTE_OVERHEAD + name.length() + value.length();
      if (bytes > MAX_TEXTS) {
        throw new IOException("an entry has more than " + MAX_TEXTS + " bytes of attributes");
      }
      attributes.put(name, value);
    }
    return attributes;
  }

  private static List<ChunkId> chunks(DataInputStream in) throws IOException {
    int left = length(in, ChunkWriter.MAX_CHUNKS);
    List<ChunkId> chunks = new ArrayList<>(Math.min(left, 1 << 10));
    byte[] id = new byte[ChunkId.BYTES];
    for (; left > 0; left--) {
      in.readFully(id);
      chunks.add(ChunkId.of(id));
    }
    return chunks;
  }

  static void text(DataOutputStream out, String text) throws IOException {
    byte[] bytes = text.getBytes(ISO_8859_1);
    out.writeInt(bytes.length);
    out.write(bytes);
  }

  static String text(DataInputStream in) throws IOException {
    int length = length(in, MAX_TEXT);
    byte[] bytes = in.readNBytes(length);
    if (bytes.length < length) {
      throw new EOFException("truncated text");
    }
    return new String(bytes, ISO_8859_1);
  }
}

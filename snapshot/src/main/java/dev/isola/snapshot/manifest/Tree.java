package dev.isola.snapshot.manifest;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import dev.isola.snapshot.chunk.ChunkId;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** The files of a snapshot as bytes: a row for each. */
final class Tree {
  private Tree() {}

  static byte[] encode(List<Entry> entries) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream(entries.size() * 128 + 16);
    DataOutputStream out = new DataOutputStream(bytes);
    out.writeInt(entries.size());
    for (Entry entry : entries) {
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
    return bytes.toByteArray();
  }

  static List<Entry> decode(byte[] tree) throws IOException {
    DataInputStream in = new DataInputStream(new ByteArrayInputStream(tree));
    int count = in.readInt();
    List<Entry> entries = new ArrayList<>(Math.min(count, tree.length / 64));
    for (int i = 0; i < count; i++) {
      entries.add(
          new Entry(
              text(in),
              Entry.Kind.of(in.readUnsignedByte()),
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
    return entries;
  }

  private static Map<String, String> attributes(DataInputStream in) throws IOException {
    Map<String, String> attributes = new TreeMap<>();
    for (int left = in.readInt(); left > 0; left--) {
      attributes.put(text(in), text(in));
    }
    return attributes;
  }

  private static List<ChunkId> chunks(DataInputStream in) throws IOException {
    List<ChunkId> chunks = new ArrayList<>();
    byte[] id = new byte[ChunkId.BYTES];
    for (int left = in.readInt(); left > 0; left--) {
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
    byte[] bytes = in.readNBytes(in.readInt());
    return new String(bytes, ISO_8859_1);
  }
}

package dev.isola.snapshot.manifest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.github.luben.zstd.Zstd;
import com.github.luben.zstd.ZstdOutputStream;
import dev.isola.snapshot.chunk.ChunkId;
import dev.isola.snapshot.chunk.ChunkWriter;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Rows that a manifest could contain although its hashes are right. */
class EntryReaderTest {
  private static final SnapshotEntry ENTRY =
      new SnapshotEntry(
          "a", SnapshotEntry.Kind.FILE, "", 0644, 1, 2, 3, 4, 5, Map.of("user.a", "b"), List.of());

  @FunctionalInterface
  private interface Rows {
    void write(DataOutputStream out) throws IOException;
  }

  private static byte[] bytes(Rows rows) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    rows.write(new DataOutputStream(bytes));
    return bytes.toByteArray();
  }

  private static String checksum(byte[] plain) {
    return HexFormat.of().formatHex(ChunkId.of(plain, 0, plain.length).bytes());
  }

  private static EntryReader reader(Rows rows) throws IOException {
    byte[] plain = bytes(rows);
    return new EntryReader(new ByteArrayInputStream(Zstd.compress(plain)), checksum(plain));
  }

  private static void one(DataOutputStream out) throws IOException {
    out.writeInt(1);
    EntryCodec.encode(ENTRY, out);
  }

  @Test
  void readsWhatWasWritten() throws IOException {
    try (EntryReader reader = reader(EntryReaderTest::one)) {
      assertThat(reader.next()).contains(ENTRY);
      assertThat(reader.next()).isEmpty();
      assertThat(reader.next()).isEmpty();
    }
  }

  /** Compresses to a few kilobytes, and would have been 64 MiB in memory. */
  @Test
  void refusesAnEntryWithTooManyAttributes() throws IOException {
    try (EntryReader reader =
        reader(
            out -> {
              out.writeInt(1);
              attributes(out, 64, 1 << 20);
            })) {
      assertThatThrownBy(reader::next)
          .isInstanceOf(IOException.class)
          .hasMessageContaining("attributes");
    }
    try (EntryReader reader =
        reader(
            out -> {
              out.writeInt(1);
              attributes(out, 1 << 20, 0);
            })) {
      assertThatThrownBy(reader::next).hasMessageContaining("invalid length");
    }
  }

  private static void attributes(DataOutputStream out, int count, int length) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    EntryCodec.encode(ENTRY, new DataOutputStream(bytes));
    int tail = Integer.BYTES * 4 + "user.a".length() + "b".length(); // with the number of chunks
    out.write(bytes.toByteArray(), 0, bytes.size() - tail);
    out.writeInt(count);
    byte[] value = new byte[length];
    for (int i = 0; i < count; i++) {
      EntryCodec.text(out, "user." + i);
      out.writeInt(length);
      out.write(value);
    }
    out.writeInt(0);
  }

  /** A length is refused before the bytes that it announces are allocated or read. */
  @Test
  void refusesTextsAndListsThatAreTooLong() throws IOException {
    try (EntryReader reader =
        reader(
            out -> {
              out.writeInt(1);
              EntryCodec.text(out, "p".repeat((1 << 20) + 1));
            })) {
      assertThatThrownBy(reader::next).hasMessageContaining("invalid length 1048577");
    }
    try (EntryReader reader =
        reader(
            out -> {
              byte[] entry = bytes(EntryReaderTest::one);
              out.write(entry, 0, entry.length - Integer.BYTES);
              out.writeInt(ChunkWriter.MAX_CHUNKS + 1);
            })) {
      assertThatThrownBy(reader::next)
          .hasMessageContaining("invalid length " + (ChunkWriter.MAX_CHUNKS + 1));
    }
  }

  /** A frame may demand a window of 128 MiB, whatever it contains. */
  @Test
  void refusesALargeWindow() throws IOException {
    ByteArrayOutputStream compressed = new ByteArrayOutputStream();
    try (ZstdOutputStream out = new ZstdOutputStream(compressed)) {
      out.setLong(27);
      out.write(bytes(EntryReaderTest::one));
    }
    assertThatThrownBy(
            () ->
                new EntryReader(
                    new ByteArrayInputStream(compressed.toByteArray()),
                    checksum(bytes(EntryReaderTest::one))))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("too much memory");
  }

  @Test
  void refusesRowsWithAnotherChecksum() throws IOException {
    byte[] other = new byte[1];
    try (EntryReader reader =
        new EntryReader(
            new ByteArrayInputStream(Zstd.compress(bytes(EntryReaderTest::one))),
            checksum(other))) {
      assertThat(reader.next()).contains(ENTRY);
      assertThatThrownBy(reader::next).hasMessageContaining("checksum");
    }
  }

  @Test
  void refusesAWrongNumberOfEntries() throws IOException {
    try (EntryReader reader = reader(out -> out.writeInt(-1))) {
      assertThatThrownBy(reader::next).hasMessageContaining("number of entries");
    }
    for (int count : List.of(0, 2, -1, Integer.MAX_VALUE)) {
      try (EntryReader reader =
          reader(
              out -> {
                out.writeInt(count);
                EntryCodec.encode(ENTRY, out);
              })) {
        assertThatThrownBy(
                () -> {
                  while (reader.next().isPresent()) {
                    // until it fails
                  }
                })
            .as("%d", count)
            .isInstanceOf(IOException.class);
      }
    }
  }
}

package dev.isola.snapshot.manifest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.github.luben.zstd.Zstd;
import dev.isola.snapshot.chunk.ChunkId;
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

  private static EntryReader reader(Rows rows) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    rows.write(new DataOutputStream(bytes));
    byte[] plain = bytes.toByteArray();
    return new EntryReader(
        new ByteArrayInputStream(Zstd.compress(plain)),
        HexFormat.of().formatHex(ChunkId.of(plain, 0, plain.length).bytes()));
  }

  @Test
  void readsWhatWasWritten() throws IOException {
    try (EntryReader reader =
        reader(
            out -> {
              out.writeInt(1);
              EntryCodec.encode(ENTRY, out);
            })) {
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

  @Test
  void refusesAWrongNumberOfEntries() throws IOException {
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

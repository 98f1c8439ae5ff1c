package dev.isola.snapshot.manifest;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class SnapshotDocumentTest {
  private static final String PLAIN =
      """
      {"id":"abc","createdAt":"2026-01-02T03:04:05.006007Z","sandbox":"sb-1","provider":"crun",\
      "runtime":"0.1.0","architecture":"amd64","tags":{"k":"vé"},"parent":null,\
      "root":"/workspace","includes":["a"],"excludes":[],"files":3,"bytes":34359738368,\
      "newBytes":5,"storedBytes":6,"checksum":"c0ffee","kind":"FILESYSTEM","image":null,\
      "written":null}\
      """;
  private static final String WHOLE =
      """
      {"id":"abc","createdAt":"2026-01-02T03:04:05Z","sandbox":"sb-1","provider":"crun",\
      "runtime":"0.1.0","architecture":"amd64","tags":{},"parent":"p","root":"/","includes":[],\
      "excludes":["x"],"files":3,"bytes":4,"newBytes":5,"storedBytes":6,"checksum":"c0ffee",\
      "kind":"MEMORY","image":"img","written":{"imageDigest":"sha256:1","folders":["/w"]},\
      "source":{"spec":"{\\"cwd\\":\\"/w\\"}","secretNames":["API_KEY"]}}\
      """;

  private static void isTheTextOf(Snapshot snapshot, String text) throws IOException {
    assertThat(SnapshotDocument.read(text.getBytes(UTF_8))).isEqualTo(snapshot);
    assertThat(new String(SnapshotDocument.write(snapshot), UTF_8)).isEqualTo(text);
  }

  @Test
  void folderSnapshotFormatIsStable() throws IOException {
    isTheTextOf(
        new Snapshot(
            "abc",
            Instant.parse("2026-01-02T03:04:05.006007Z"),
            "sb-1",
            "crun",
            "0.1.0",
            "amd64",
            Map.of("k", "vé"),
            Optional.empty(),
            "/workspace",
            List.of("a"),
            List.of(),
            3,
            34_359_738_368L,
            5,
            6,
            "c0ffee"),
        PLAIN);
  }

  @Test
  void fullSnapshotFormatIsStable() throws IOException {
    isTheTextOf(
        new Snapshot(
            "abc",
            Instant.parse("2026-01-02T03:04:05Z"),
            "sb-1",
            "crun",
            "0.1.0",
            "amd64",
            Map.of(),
            Optional.of("p"),
            "/",
            List.of(),
            List.of("x"),
            3,
            4,
            5,
            6,
            "c0ffee",
            Snapshot.Kind.MEMORY,
            Optional.of("img"),
            Optional.of(new Snapshot.SnapshotCoverage(Optional.of("sha256:1"), List.of("/w"))),
            Optional.of(new Snapshot.ProcessSource("{\"cwd\":\"/w\"}", List.of("API_KEY")))),
        WHOLE);
  }

  @Test
  void malformedDocumentIsRejected() {
    assertThatThrownBy(() -> SnapshotDocument.read("{".getBytes(UTF_8)))
        .isInstanceOf(IOException.class);
    assertThatThrownBy(() -> SnapshotDocument.read("{}".getBytes(UTF_8)))
        .isInstanceOf(DateTimeException.class);
  }
}

package dev.isola.link.local;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.isola.link.BootRecord;
import dev.isola.spi.SandboxId;
import dev.isola.spi.spec.SandboxSpec;
import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SandboxRecordStoreTest {
  private static final String INSTANCE = "storetest";

  @TempDir Path data;
  private SandboxRecordStore store;

  @BeforeEach
  void open() {
    store = SandboxRecordStore.in(data);
  }

  private SandboxRecord record(String id) {
    SandboxSpec spec = SandboxSpec.builder(new SandboxId(id)).build();
    return SandboxRecord.forSpec(
        spec, INSTANCE, Instant.EPOCH, store.of(spec.id()), BootRecord.newSecret());
  }

  private static List<String> names(Path folder) throws IOException {
    try (Stream<Path> entries = Files.list(folder)) {
      return entries.map(entry -> entry.getFileName().toString()).sorted().toList();
    }
  }

  @Test
  void folderAppearsWithItsRecord() throws IOException {
    SandboxRecord record = record("one");
    store.create(record, true);
    assertThat(store.find(record.id()).orElseThrow().record()).isEqualTo(record);
    assertThat(names(data.resolve("sandboxes/one"))).containsExactly("record", "unverified");
    assertThat(names(data.resolve("creating"))).isEmpty();
  }

  @Test
  void oneOfSeveralProcessesCreatesTheSameSandbox() throws Exception {
    List<Callable<SandboxRecord>> creators = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      creators.add(
          () -> {
            SandboxRecord record = record("same");
            store.create(record, false);
            return record;
          });
    }
    List<SandboxRecord> created = new ArrayList<>();
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      for (Future<SandboxRecord> one : threads.invokeAll(creators)) {
        if (one.state() == Future.State.SUCCESS) {
          created.add(one.resultNow());
        } else {
          assertThat(one.exceptionNow()).isInstanceOf(FileAlreadyExistsException.class);
        }
      }
    }
    assertThat(created).containsExactly(store.find(new SandboxId("same")).orElseThrow().record());
    assertThat(names(data.resolve("creating"))).isEmpty();
  }

  @Test
  void leftoversOfKilledProcessesAreRemoved() throws IOException {
    store.create(record("kept"), false);
    // No process with that start time exists.
    Files.createDirectories(data.resolve("creating/1-1-ab/killed"));
    Files.createDirectories(data.resolve("sandboxes/emptied"));
    Path current = store.unfinished().create();
    Path unknown = Files.createDirectories(data.resolve("sandboxes/unknown/content"));

    store.removeUnfinished();
    assertThat(names(data.resolve("creating"))).containsExactly(current.getFileName().toString());
    assertThat(names(data.resolve("sandboxes"))).containsExactly("kept", "unknown");
    assertThat(unknown).isDirectory();
  }

  @Test
  void leftoverThatIsNotEmptyIsNotReplaced() throws IOException {
    Files.createDirectories(data.resolve("sandboxes/unknown/content"));
    assertThatThrownBy(() -> store.create(record("unknown"), false))
        .isInstanceOf(FileAlreadyExistsException.class);
    assertThat(names(data.resolve("creating"))).isEmpty();
  }
}

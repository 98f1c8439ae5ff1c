package dev.isola.snapshot.s3;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.isola.snapshot.blob.AlreadyClaimedException;
import dev.isola.snapshot.blob.BlobStore;
import java.io.EOFException;
import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Rare faults, injected by a fake; other tests use real services. */
class FakeS3BlobStoreTest {
  @TempDir Path folder;
  private FakeS3 fake;
  private S3BlobStore blobs;
  private BlobStore.Claim claim;

  @BeforeEach
  void open() throws IOException {
    fake = new FakeS3();
    blobs = new S3BlobStore(fake.config(), Clock.systemUTC(), Duration.ofMillis(2));
    claim = blobs.claim(folder);
  }

  @AfterEach
  void close() throws IOException {
    fake.faults.clear();
    claim.close();
    blobs.close();
    fake.close();
  }

  private Path file(String content) throws IOException {
    return Files.writeString(Files.createTempFile(folder, "staged", ".new"), content);
  }

  @Test
  void retriesTransientErrors() throws IOException {
    fake.faults.addAll(List.of(FakeS3.Fault.BUSY, FakeS3.Fault.HANG_UP, FakeS3.Fault.BUSY));
    blobs.put("packs/a", file("content"));
    assertThat(blobs.read("packs/a", 3, 4)).isEqualTo("tent".getBytes(UTF_8));
  }

  @Test
  void stopsRetryingAfterSomeAttempts() {
    fake.faults.addAll(Collections.nCopies(20, FakeS3.Fault.BUSY));
    int before = fake.asked.get();
    assertThatThrownBy(() -> blobs.list("packs"))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("503 SlowDown")
        .message()
        .doesNotContain("canary");
    assertThat(fake.asked.get() - before).isEqualTo(5);
  }

  @Test
  void recognizesItsObjectAfterALostResponse() throws IOException {
    fake.faults.add(FakeS3.Fault.DONE_AND_HANG_UP);
    blobs.create("snapshots/a", file("mine"));
    fake.objects.put("snapshots/b", "theirs".getBytes(UTF_8));
    fake.times.put("snapshots/b", Instant.EPOCH);
    fake.faults.add(FakeS3.Fault.BUSY);
    assertThatThrownBy(() -> blobs.create("snapshots/b", file("mine!!")))
        .isInstanceOf(FileAlreadyExistsException.class);
    assertThat(fake.objects.get("snapshots/b")).isEqualTo("theirs".getBytes(UTF_8));
  }

  @Test
  void reportsAFullBucket() throws IOException {
    fake.faults.add(FakeS3.Fault.FULL);
    Path file = file("content");
    assertThatThrownBy(() -> blobs.put("packs/a", file)).hasMessageContaining("No space left");
  }

  @Test
  void limitsTheSizeOfResponses() throws IOException {
    blobs.put("packs/a", file("0123456789"));
    fake.faults.addAll(Collections.nCopies(5, FakeS3.Fault.TOO_LONG));
    assertThatThrownBy(() -> blobs.read("packs/a", 0, 10)).isInstanceOf(IOException.class);
    fake.faults.clear();
    fake.objects.put("packs/a", "01234".getBytes(UTF_8));
    assertThatThrownBy(() -> blobs.read("packs/a", 0, 10)).isInstanceOf(EOFException.class);
  }

  @Test
  void readsListingsOfManyPages() throws IOException {
    for (int i = 0; i < 7; i++) {
      blobs.put("packs/p" + i, file("x"));
    }
    assertThat(blobs.list("packs"))
        .containsExactly(
            "packs/p0", "packs/p1", "packs/p2", "packs/p3", "packs/p4", "packs/p5", "packs/p6");
    fake.faults.add(FakeS3.Fault.NOT_A_LIST);
    assertThatThrownBy(() -> blobs.list("packs")).hasMessageContaining("cannot be parsed");
  }

  @Test
  void staleLeaseIsTakenOver() throws IOException {
    S3BlobStore other = new S3BlobStore(fake.config(), Clock.systemUTC());
    Path elsewhere = Files.createDirectory(folder.resolve("elsewhere"));
    assertThatThrownBy(() -> other.claim(elsewhere))
        .isInstanceOf(AlreadyClaimedException.class)
        .hasMessageContaining("300 s");
    fake.times.put("owner", Instant.now().minus(S3Lease.STALE).minusSeconds(2));
    try (other;
        BlobStore.Claim now = other.claim(elsewhere)) {
      assertThat(now).isNotNull();
      other.put("packs/a", file("x"));
      claim.close(); // It does not remove the new lease.
      assertThat(fake.objects).containsKey("owner");
      assertThatThrownBy(() -> blobs.put("packs/b", file("x")))
          .isInstanceOf(AlreadyClaimedException.class);
    }
    assertThat(fake.objects).doesNotContainKey("owner");
  }
}

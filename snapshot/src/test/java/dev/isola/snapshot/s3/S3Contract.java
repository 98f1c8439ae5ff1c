package dev.isola.snapshot.s3;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.isola.snapshot.SnapshotFixtures;
import dev.isola.snapshot.blob.BlobStore;
import dev.isola.snapshot.blob.BlobStoreContract;
import dev.isola.spi.Secret;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.HexFormat;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** The behaviour with every S3-compatible service. */
abstract class S3Contract extends BlobStoreContract {
  private static final int MANY = Boolean.getBoolean("isola.long") ? 1_100 : 0;

  private final String prefix = "test/" + HexFormat.of().toHexDigits(new Random().nextLong()) + "/";

  abstract S3Server server();

  @Override
  protected BlobStore location() {
    return new S3BlobStore(server().config(prefix), Clock.systemUTC());
  }

  @Test
  void holdsASnapshotStore() throws IOException {
    SnapshotFixtures.fillAndEmpty(
        () -> new S3BlobStore(server().config("store" + prefix), Clock.systemUTC()), folder);
  }

  @Test
  void virtualHostAddressingWorks() throws IOException {
    S3BlobStore blobs = new S3BlobStore(server().byHost("host" + prefix), Clock.systemUTC());
    try (blobs;
        BlobStore.Claim claim = blobs.claim(Files.createDirectories(folder.resolve("host")))) {
      blobs.put("packs/a", Files.write(folder.resolve("one"), "by name".getBytes(UTF_8)));
      assertThat(claim).isNotNull();
    }
    try (S3BlobStore same = new S3BlobStore(server().config("host" + prefix), Clock.systemUTC())) {
      assertThat(same.list("packs")).containsExactly("packs/a");
      assertThat(same.read("packs/a", 3, 4)).isEqualTo("name".getBytes(UTF_8));
    }
  }

  @Test
  void restartedOwnerTakesOverItsLease() throws IOException {
    Path work = Files.createDirectories(folder.resolve("mine"));
    S3BlobStore killed = new S3BlobStore(server().config("killed" + prefix), Clock.systemUTC());
    BlobStore.Claim left = killed.claim(work); // The lease is never released.
    assertThat(left).isNotNull();
    try (S3BlobStore next =
        new S3BlobStore(server().config("killed" + prefix), Clock.systemUTC())) {
      next.claim(work).close();
    }
    killed.close();
  }

  @Test
  void wrongCredentialsAreReportedWithoutSecrets() throws IOException {
    S3Config good = server().config(prefix);
    S3Config bad =
        new S3Config(
            good.endpoint(),
            good.region(),
            good.bucket(),
            good.prefix(),
            true,
            good.accessKey(),
            Secret.of("canary-that-is-wrong"),
            Optional.empty());
    try (S3BlobStore blobs = new S3BlobStore(bad, Clock.systemUTC())) {
      assertThatThrownBy(() -> blobs.list("packs"))
          .isInstanceOf(IOException.class)
          .hasMessageContaining("403")
          .hasMessageContaining("SignatureDoesNotMatch")
          .message()
          .doesNotContain("canary");
    }
    Clock late = Clock.offset(Clock.systemUTC(), Duration.ofDays(1));
    try (S3BlobStore blobs = new S3BlobStore(good, late)) {
      assertThatThrownBy(() -> blobs.list("packs")).hasMessageContaining("clock");
    }
  }

  @Test
  void missingBucketIsReported() {
    S3Config good = server().config(prefix);
    S3Config none =
        new S3Config(
            good.endpoint(),
            good.region(),
            "no-such-bucket",
            good.prefix(),
            true,
            good.accessKey(),
            good.secretKey(),
            Optional.empty());
    try (S3BlobStore blobs = new S3BlobStore(none, Clock.systemUTC())) {
      assertThatThrownBy(() -> blobs.claim(folder))
          .isInstanceOf(IOException.class)
          .hasMessageContaining("NoSuchBucket")
          .hasMessageContaining("s3://no-such-bucket");
    }
  }

  @Test
  void listsMoreThanOnePage() throws IOException {
    S3BlobStore blobs = new S3BlobStore(server().config("many" + prefix), Clock.systemUTC());
    try (blobs;
        BlobStore.Claim claim = blobs.claim(Files.createDirectories(folder.resolve("many")))) {
      Path file = Files.write(folder.resolve("one"), "x".getBytes(UTF_8));
      for (int i = 0; i < Math.max(3, MANY); i++) {
        blobs.put("packs/p" + i, file);
      }
      assertThat(blobs.list("packs")).hasSize(Math.max(3, MANY)).doesNotHaveDuplicates().isSorted();
      assertThat(claim).isNotNull();
    }
  }
}

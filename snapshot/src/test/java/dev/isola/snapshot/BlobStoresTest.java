package dev.isola.snapshot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.isola.snapshot.blob.BlobStore;
import dev.isola.snapshot.blob.FolderBlobStore;
import dev.isola.snapshot.s3.S3BlobStore;
import dev.isola.spi.error.InvalidRequest;
import java.nio.file.Path;
import java.time.Clock;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class BlobStoresTest {
  private static BlobStore at(String location) {
    return BlobStores.open(
        location,
        Path.of("/usual"),
        Map.of("access_key", "me"),
        Map.of("AWS_SECRET_ACCESS_KEY", "canary-3a"),
        Clock.systemUTC());
  }

  @Test
  void opensFoldersAndBuckets() {
    assertThat(at("")).isInstanceOf(FolderBlobStore.class).hasToString("/usual");
    assertThat(at("/other")).isInstanceOf(FolderBlobStore.class).hasToString("/other");
    assertThat(at("s3://bucket/a")).isInstanceOf(S3BlobStore.class).hasToString("s3://bucket/a/");
  }

  @Test
  void rejectsOtherLocations() {
    for (String location : List.of("relative/folder", "http://host/bucket", "a\0b", "s3:bucket")) {
      assertThatThrownBy(() -> at(location))
          .isInstanceOf(InvalidRequest.class)
          .hasMessageContaining("s3://bucket/prefix");
    }
  }
}

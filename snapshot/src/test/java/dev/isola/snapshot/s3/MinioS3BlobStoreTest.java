package dev.isola.snapshot.s3;

import java.nio.file.Path;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;

class MinioS3BlobStoreTest extends S3Contract {
  private static S3Server server;

  @BeforeAll
  static void start(@TempDir Path data) throws Exception {
    server = S3Server.minio(data);
  }

  @AfterAll
  static void stop() {
    if (server != null) {
      server.close();
    }
  }

  @Override
  S3Server server() {
    return server;
  }
}

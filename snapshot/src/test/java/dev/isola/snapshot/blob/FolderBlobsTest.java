package dev.isola.snapshot.blob;

class FolderBlobsTest extends BlobsContract {
  @Override
  protected Blobs place() {
    return new FolderBlobs(folder.resolve("store"));
  }
}

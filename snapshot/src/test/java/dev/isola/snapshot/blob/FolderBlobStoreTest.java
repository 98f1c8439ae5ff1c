package dev.isola.snapshot.blob;

class FolderBlobStoreTest extends BlobStoreContract {
  @Override
  protected BlobStore place() {
    return new FolderBlobStore(folder.resolve("store"));
  }
}

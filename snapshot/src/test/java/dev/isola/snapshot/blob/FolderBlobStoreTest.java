package dev.isola.snapshot.blob;

class FolderBlobStoreTest extends BlobStoreContract {
  @Override
  protected BlobStore location() {
    return new FolderBlobStore(folder.resolve("store"));
  }
}

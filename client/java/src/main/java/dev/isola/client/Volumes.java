package dev.isola.client;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The volumes of a server. A sandbox mounts one by naming it in its spec. */
public final class Volumes {
  /** Removing one takes as long as it has many files. */
  private static final Duration LONG = Duration.ofMinutes(10);

  private static final ApiPath ADDRESS = ApiPath.of("volumes");
  private final Transport transport;

  Volumes(Transport transport) {
    this.transport = transport;
  }

  /** Creates a volume where the server decides. */
  public VolumeInfo create(String name) {
    return create(name, "");
  }

  /**
   * Creates a volume.
   *
   * @param provider that is to have its files; empty text for the server's choice
   */
  public VolumeInfo create(String name, String provider) {
    Map<String, Object> body = new HashMap<>(Map.of("name", name));
    if (!provider.isEmpty()) {
      body.put("provider", provider);
    }
    return VolumeInfo.read(transport.post(ADDRESS, body, LONG));
  }

  public List<VolumeInfo> list() {
    return transport.get(ADDRESS).list("volumes").stream().map(VolumeInfo::read).toList();
  }

  public VolumeInfo get(String name) {
    return VolumeInfo.read(transport.get(ADDRESS.resolve(name)));
  }

  /** Removes a volume with its files; refused while a sandbox has it mounted. */
  public void remove(String name) {
    transport.delete(ADDRESS.resolve(name), LONG);
  }

  /**
   * Returns the files of a volume; paths begin at the volume. Moving, finding by a pattern and
   * changing modes is done in a sandbox that mounts it.
   */
  public Files files(String name) {
    return new Files(transport, ADDRESS.resolve(name));
  }
}

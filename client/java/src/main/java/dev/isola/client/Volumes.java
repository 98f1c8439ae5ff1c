package dev.isola.client;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Volumes of a server. To mount a volume, name it in the spec of a sandbox. */
public final class Volumes {
  /** Timeout for creation and removal, which may involve many files. */
  private static final Duration TIMEOUT = Duration.ofMinutes(10);

  private static final ApiPath ENDPOINT = ApiPath.of("volumes");
  private final Transport transport;

  Volumes(Transport transport) {
    this.transport = transport;
  }

  /** Creates a volume with the provider that the server chooses. */
  public VolumeInfo create(String name) {
    return create(name, "");
  }

  /**
   * Creates a volume.
   *
   * @param provider that stores its files; if empty, the server chooses
   */
  public VolumeInfo create(String name, String provider) {
    Map<String, Object> body = new HashMap<>(Map.of("name", name));
    if (!provider.isEmpty()) {
      body.put("provider", provider);
    }
    return VolumeInfo.read(transport.post(ENDPOINT, body, TIMEOUT));
  }

  public List<VolumeInfo> list() {
    return transport.get(ENDPOINT).list("volumes").stream().map(VolumeInfo::read).toList();
  }

  public VolumeInfo get(String name) {
    return VolumeInfo.read(transport.get(ENDPOINT.resolve(name)));
  }

  /** Removes a volume with its files. Fails while a sandbox mounts it. */
  public void remove(String name) {
    transport.delete(ENDPOINT.resolve(name), TIMEOUT);
  }

  /**
   * Returns the files of a volume; paths are relative to its root. Moving, globbing and changing
   * modes are only possible in a sandbox that mounts it.
   */
  public Files files(String name) {
    return new Files(transport, ENDPOINT.resolve(name));
  }
}

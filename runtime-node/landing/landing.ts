/**
 * Memory that batches land in: one region for each consumer (rank), and one staging region beside them. The core
 * decides every offset; a back end owns the memory and moves bytes from staging to landing.
 */
export interface LandingBackend {
  readonly name: 'memory' | 'shm' | 'cuda' | 'ucx';
  /** True where GETs write straight into landing memory; false where they go through staging and `place`. */
  readonly inPlace: boolean;
  /** The host's CPU does not touch the bytes. */
  readonly direct: boolean;
  /** Landing memory of a consumer, addressable by this process; throws where it is not (GPU memory). */
  landing(consumer: number): Uint8Array;
  /** Staging memory, always addressable. */
  staging(): Uint8Array;
  /** Moves bytes from staging to landing; `done` is called once, later or at once. */
  place(
    consumer: number,
    from: number,
    to: number,
    length: number,
    done: (error: Error | null) => void,
  ): void;
  close(): Promise<void>;
}

/** Sizes as the core divided the budget. */
export interface LandingSizes {
  consumers: number;
  landingBytes: number; // for each consumer
  stagingBytes: number;
}

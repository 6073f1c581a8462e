//! The register map of the Peerlane DMA block: model, checks and emitters.
